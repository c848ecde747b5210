// The sound of a call, by WebRTC: first the visitor is heard, then the microphone joins, without asking anew. The service
// answers an offer at once and reads none of its candidates.
import { call } from './call.js';

/** A line between this page and the call box. */
export class Line {
    /** @param {string} id of the call @param {() => void} lost is called when the sound ends by itself */
    constructor(id, lost) {
        this.path = `/v1/calls/${id}`;
        this.listener = '';
        this.closed = false;
        this.lost = lost;
        this.audio = new Audio();
        this.connection = new RTCPeerConnection({ iceServers: [] });
        /** @type {MediaStreamTrack | undefined} */
        this.microphone = undefined;
    }

    /** Begins to listen. Fails with a CallError. */
    async listen() {
        const { connection, audio } = this;
        const { sender } = connection.addTransceiver('audio', { direction: 'sendrecv' });
        this.sender = sender;
        connection.addEventListener('track', ({ streams, track }) => {
            audio.srcObject = streams[0] ?? new MediaStream([track]);
            audio.play().catch(() => {});
        });
        connection.addEventListener('connectionstatechange', () => {
            if (['failed', 'closed'].includes(connection.connectionState) && !this.closed) this.lost();
        });
        await connection.setLocalDescription();
        const { listener_id: listener, sdp } = await call('POST', `${this.path}/listen`, { sdp: connection.localDescription?.sdp });
        this.listener = listener;
        if (this.closed) this.leave();
        else await connection.setRemoteDescription({ type: 'answer', sdp });
    }

    /** Asks for the microphone. Fails with a DOMException. */
    async openMicrophone() {
        const stream = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } });
        [this.microphone] = stream.getAudioTracks();
        if (this.closed) this.microphone.stop();
    }

    /** Takes the call for this page. Fails with a CallError. */
    async answer() {
        await this.sender?.replaceTrack(this.microphone ?? null);
        await call('POST', `${this.path}/answer`, { listener_id: this.listener });
    }

    /** @param {boolean} on */
    mute(on) {
        if (this.microphone) this.microphone.enabled = !on;
    }

    /** Ends it here and at the service. The connection goes last: its end would end the call before the service is told. */
    async leave() {
        const { listener } = this;
        this.listener = '';
        this.silence();
        if (listener) await call('DELETE', `${this.path}/listeners/${listener}`).catch(() => {});
        this.connection.close();
    }

    /** Ends it here; the call is over for all. */
    close() {
        this.silence();
        this.connection.close();
    }

    silence() {
        this.closed = true;
        this.microphone?.stop();
        this.audio.srcObject = null;
    }
}
