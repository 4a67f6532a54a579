/** Names in paths: 32 bytes in hexadecimal. */
import { fromHex, toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { fail, hexText, Type } from '@basa/service';
import type { KnownTask } from '../log/directory.ts';
import type { DurableAuthority } from '../steps/durable-authority.ts';

export const taskParams = Type.Object({ task: hexText(32, 'SHA-256 of the policy') });

/** A task never changes, so the database is read only for a task that is not in memory. Its certificates are those in memory. */
export async function taskOf(authority: DurableAuthority, { task }: { readonly task: string }): Promise<KnownTask> {
  const name = named(task) as TaskId;
  if (authority.directory.task(name) === undefined) await authority.catchUp();
  return authority.directory.task(name) ?? fail('task-unknown');
}

/** Checks that a message which repeats its task names the task of the path. */
export function ofPathTask<Message extends { readonly task: TaskId }>(
  name: string,
  message: Message,
  { task }: { readonly task: string },
): Message {
  return toHex(message.task) === task ? message : fail('malformed', { detail: `${name}.task: not that of the path` });
}

/** The schema has checked the text. */
export function named(hex: string): Uint8Array {
  return fromHex(hex) ?? fail('malformed', { detail: 'a name is lower-case hexadecimal' });
}
