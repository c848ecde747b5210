// Synthetic callers who say door codes, for bench/spoken.c: 8 kHz, telephone band, 16 bits, no header.
//   node bench/spoken-speech.mjs DIRECTORY NUMBER [LENGTH]
// writes NUMBER codes of LENGTH (4) digits for each voice to DIRECTORY, and DIRECTORY/list: file, voice, code on each line.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sized } from './lib.mjs';

const [directory, number, length = '4'] = process.argv.slice(2);
const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const STRETCHES = [0.8, 1, 1.3];

// A speaker is a group of voices made from the same person: they must not be on both sides of a held-out test.
const ALL_VOICES = [
  ...['rms', 'slt', 'awb', 'kal'].map((name) => ({ name: `flite-${name}`, speaker: name, flite: name })),
  { name: 'festival-kal', speaker: 'kal', festival: 'voice_kal_diphone' },
  { name: 'festival-slt', speaker: 'slt', festival: 'voice_cmu_us_slt_arctic_hts' },
  ...[
    ['en-us', 50], ['en-us+f2', 55], ['en-us+m3', 35], ['en-gb-x-rp', 50],
  ].map(([voice, pitch]) => ({ name: `espeak-${voice}`, speaker: voice, espeak: voice, pitch })),
];

const VOICES = sized(ALL_VOICES, ALL_VOICES.slice(0, 2));

let state = 20261122;
function random(n) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 4294967296) * n);
}

function run(command, args) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

function sentence(code) {
  const said = [...code].map((d) => (d === '0' && random(2) ? 'oh' : WORDS[Number(d)]));
  const style = random(3);
  if (style === 0) return said.join(' ');
  if (style === 1) return said.join(', ');
  const half = Math.ceil(said.length / 2);
  return said.length > 2 ? `${said.slice(0, half).join(' ')}, ${said.slice(half).join(' ')}` : said.join(' ');
}

function speak(voice, text, stretch, wav) {
  if (voice.flite) run('flite', ['-voice', voice.flite, '--setf', `duration_stretch=${stretch}`, '-t', text, '-o', wav]);
  else run('espeak-ng', ['-v', voice.espeak, '-p', String(voice.pitch), '-s', String(Math.round(150 / stretch)), '-w', wav, text]);
}

/** All sentences of one festival voice in one process. */
function festival(voice, items) {
  const script = join(directory, 'festival.scm');
  writeFileSync(script, `(${voice.festival})\n` + items.map(({ text, stretch, wav }) =>
    `(Parameter.set 'Duration_Stretch ${stretch})\n(set! hts_duration_stretch ${stretch - 1})\n(utt.save.wave (utt.synth (Utterance Text "${text}")) "${wav}")\n`).join(''));
  run('festival', ['-b', script]);
  rmSync(script);
}

mkdirSync(directory, { recursive: true });
writeFileSync(join(directory, 'list'), '');
for (const voice of VOICES) {
  const items = [];
  for (let i = 0; i < Number(number); i++) {
    const code = Array.from({ length: Number(length) }, () => random(10)).join('');
    const stem = join(directory, `${voice.name}-${i}`);
    items.push({ code, text: sentence(code), stretch: STRETCHES[i % 3], wav: `${stem}.wav`, raw: `${stem}.raw` });
  }
  if (voice.festival) festival(voice, items);

  for (const { text, stretch, wav, raw } of items) {
    if (!voice.festival) speak(voice, text, stretch, wav);
    run('sox', [wav, '-r', '8000', '-c', '1', '-b', '16', '-e', 'signed', raw, 'sinc', '300-3400', 'norm', '-10']);
    rmSync(wav);
  }
  appendFileSync(join(directory, 'list'), items.map(({ raw, code }) => `${raw} ${voice.name} ${voice.speaker} ${code}\n`).join(''));
}
