/** The environment as arguments. The shared code does not access a clock, randomness, a network or a kernel directly. */
import type { Crc32, MaskPlan, RandomBytes, Suite, VectorKernel } from '@basa/masking';
import type { Millis } from '@basa/protocol';
import type { DeviceRole } from '@basa/protocol/one-shot';

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body as it arrives; ends with an error if the connection is cut. Read it to its end. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface Transport {
  /** Resolves with the head of the answer for any status. Rejects if there is no answer. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface Outside {
  readonly suite: Suite;
  /** Loads ML-KEM, if the suite does not include it from the start. */
  suiteWithKem?(): Promise<Suite>;
  /** SHA-256 of a long message, off the calling thread if the platform can. */
  digest(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
  readonly randomBytes: RandomBytes;
  readonly transport: Transport;
  /** The device's clock, which may be wrong. */
  now(): Millis;
  /** Milliseconds since some moment, only for measuring. */
  stopwatch(): number;
  /** Rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** The platform's asynchronous X25519, if it has one; otherwise the suite's is used. */
  readonly x25519?: DeviceRole.AsyncX25519;
  /** Of the runtime; without it, a loop in TypeScript. */
  readonly crc32?: Crc32;
  /** Packs uploads; without it, a loop in TypeScript does. */
  readonly kernel?: VectorKernel;
  /** Carries out a mask plan in place; the vector must not be touched until it resolves. The signal may end it early. */
  mask(vector: Uint32Array, plan: MaskPlan, signal?: AbortSignal): void | Promise<void>;
}

/** The longest delay of a timer. With a longer delay it fires immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits on a timer: not at all for an invalid time, and at most 24 days. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const end = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(
      () => {
        signal.removeEventListener('abort', end);
        resolve();
      },
      Math.min(Math.max(0, ms) || 0, LONGEST_TIMER_MS),
    );
    signal.addEventListener('abort', end, { once: true });
  });
}

/** A number in [0, 1). */
export function uniform(randomBytes: RandomBytes): number {
  return new DataView(randomBytes(4).buffer).getUint32(0) / 2 ** 32;
}
