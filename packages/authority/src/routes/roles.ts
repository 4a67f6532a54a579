/** The role that each route of the owner asks for. `tasks` is the only one that leaves the owner's hands, so it opens one route. */
import type { Role } from '@basa/service';

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
