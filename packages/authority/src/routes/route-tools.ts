/** What the routes of the authority share: the names in their paths, and the roles that they ask for. */

import { fromHex, toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { fail, hexText, type Role, Type } from '@basa/service';
import type { KnownTask, Tasks } from '../steps/tasks.ts';

// Names in paths: 32 bytes in hexadecimal.

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

// The role that each route of the owner asks for. `tasks` is the only one that leaves the owner's hands, so it opens one route.

type Roles = readonly [Role, ...Role[]];

export const ROLES = {
  createTask: ['tasks'],
  listTasks: ['enrol', 'revoke', 'admin'],
  registerTokens: ['enrol'],
  allowDevices: ['enrol'],
  listDevices: ['enrol', 'revoke', 'admin'],
  exportDevices: ['enrol'],
  importDevices: ['enrol'],
  revoke: ['revoke'],
} as const satisfies Readonly<Record<string, Roles>>;

/** For the description of a route. */
export function rolesIn(roles: Roles): string {
  return `(${roles.join(', ')})`;
}
