/** The owner's directory of users decides who may enrol. It has little time and few bytes for its answer, and only a clear yes is one. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { fail, type SigningDevice } from '@basa/service';

export interface HookOptions {
  /** https, or plain http on this machine: whoever can change its answers lets devices in. */
  readonly url: string;
  readonly timeoutMs?: number | undefined;
}

/** Returns true if the device may enrol. */
export type EnrolmentHook = (task: TaskId, device: SigningDevice, proof: string | undefined) => Promise<boolean>;

const TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 1024;
const MOST_AT_ONCE = 32;
const AGAIN_MS = 5000;

export function enrolmentHook({ url, timeoutMs = TIMEOUT_MS }: HookOptions): EnrolmentHook {
  let underWay = 0;
  return async (task, { deviceKey, user }, proof) => {
    if (underWay >= MOST_AT_ONCE) fail('overloaded', { retryAfterMs: AGAIN_MS });
    underWay++;
    try {
      const asked = { task: toHex(task), deviceKey: toHex(deviceKey), user: toHex(user), ...(proof && { proof }) };
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asked),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { admit } = Object(JSON.parse(await shortText(response))) as { readonly admit?: unknown };
      if (!response.ok || typeof admit !== 'boolean') throw new Error(`status ${response.status}`);
      return admit;
    } catch {
      return fail('overloaded', { retryAfterMs: AGAIN_MS, detail: 'the directory of the owner gave no answer' });
    } finally {
      underWay--;
    }
  };
}

async function shortText({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the rest of the body.
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) throw new Error('too long an answer');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
