// WAV files of 16 bits, 8 kHz, mono, with a tone that can be told from other sounds.
const RATE = 8000;

/** A WAV file of a 300 Hz tone. */
export function tone(seconds) {
    const samples = Int16Array.from({ length: seconds * RATE }, (_, i) => 8000 * Math.sin((2 * Math.PI * 300 * i) / RATE));
    const head = Buffer.alloc(44);
    head.write('RIFF', 0);
    head.writeUInt32LE(36 + samples.byteLength, 4);
    head.write('WAVEfmt ', 8);
    head.writeUInt32LE(16, 16);
    head.writeUInt16LE(1, 20);
    head.writeUInt16LE(1, 22);
    head.writeUInt32LE(RATE, 24);
    head.writeUInt32LE(2 * RATE, 28);
    head.writeUInt16LE(2, 32);
    head.writeUInt16LE(16, 34);
    head.write('data', 36);
    head.writeUInt32LE(samples.byteLength, 40);
    return Buffer.concat([head, Buffer.from(samples.buffer)]);
}

/** The share of the tone in the samples: 1 for the tone alone. */
export function purityOf(samples) {
    let all = 0, sine = 0, cosine = 0;
    samples.forEach((sample, i) => {
        const angle = (2 * Math.PI * 300 * i) / RATE;
        all += sample * sample;
        sine += sample * Math.sin(angle);
        cosine += sample * Math.cos(angle);
    });
    return (2 * (sine * sine + cosine * cosine)) / (all * samples.length);
}

/** The same of a file's audio. */
export function purity(wav) {
    return purityOf(new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length)));
}
