/** Speech recognition by a server that implements OpenAI's transcription API. */
import { randomBytes } from 'node:crypto';
import { problem } from '#errors.ts';
import type { TrustedFetch } from '#net/trusted.ts';

export type Transcribe = (sound: Uint8Array, signal: AbortSignal) => Promise<string>;

export interface SpeechSettings {
  /** Base URL: `http://localhost:8000/v1`. */
  readonly speechUrl?: string | undefined;
  readonly speechModel?: string | undefined;
  readonly speechKey?: string | undefined;
  readonly modelTimeoutMs: number;
}

const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Returns undefined without a server. The returned function throws DownstreamServiceFailureError or the signal's
 * reason.
 */
export function createTranscribe(
  { speechUrl, speechModel = 'whisper-1', speechKey, modelTimeoutMs }: SpeechSettings,
  fetch: TrustedFetch,
): Transcribe | undefined {
  if (speechUrl === undefined) return undefined;
  const url = `${speechUrl.replace(/\/$/, '')}/audio/transcriptions`;
  return async (sound, signal) => {
    const { body, contentType } = formOf(sound, { model: speechModel, response_format: 'json' });
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': contentType, ...(speechKey && { authorization: `Bearer ${speechKey}` }) },
      body,
      signal,
      timeoutMs: modelTimeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
    });
    if (answer.status !== 200) {
      answer.discard();
      throw problem('DownstreamServiceFailureError', { message: 'The speech model rejected the clip' });
    }
    const { text } = (await answer.json()) as { text?: unknown };
    if (typeof text === 'string') return text.trim();
    throw problem('DownstreamServiceFailureError', { message: 'The response from the speech model is invalid' });
  };
}

/** Builds a multipart form with fields and one file (RFC 7578). */
function formOf(file: Uint8Array, fields: Readonly<Record<string, string>>) {
  const boundary = `lectern-${randomBytes(16).toString('hex')}`;
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `${parts.join('')}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="clip.wav"\r\ncontent-type: audio/wav\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { body: new Uint8Array(body), contentType: `multipart/form-data; boundary=${boundary}` };
}

/** Encodes samples as a 16-bit mono WAV file. */
export function wavOf(samples: Float32Array, samplesPerSecond: number): Uint8Array {
  const bytes = Buffer.alloc(44 + samples.length * 2);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(samplesPerSecond, 24);
  bytes.writeUInt32LE(samplesPerSecond * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(samples.length * 2, 40);
  for (const [at, sample] of samples.entries()) {
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), 44 + at * 2);
  }
  return new Uint8Array(bytes);
}
