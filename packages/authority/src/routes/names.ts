/** Names in paths: 32 bytes in hexadecimal. */
import { fromHex, toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { fail, hexText, Type } from '@basa/service';
import type { KnownTask, Tasks } from '../steps/tasks.ts';

export const taskParams = Type.Object({ task: hexText(32, 'SHA-256 of the policy') });

export function taskOf(tasks: Tasks, { task }: { readonly task: string }): KnownTask {
  return tasks.find(named(task)) ?? fail('task-unknown');
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
function named(hex: string): Uint8Array {
  return fromHex(hex) ?? fail('malformed', { detail: 'a name is lower-case hexadecimal' });
}
