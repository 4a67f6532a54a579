/** Tasks: their policies, and their revoked devices. */
import { toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  decodePolicy,
  ENGINE,
  encodePolicy,
  revocationRequestCodec,
  revocationsCodec,
  type TaskPolicy,
} from '@basa/protocol';
import { answers, bytesOf, exchange, fail, granted, hexText, sendBytes, Type, wireBytes } from '@basa/service';
import { openEpochIfDue } from '../steps/shot-epochs.ts';
import { ofPathTask, taskOf, taskParams } from './names.ts';
import { ROLES, rolesIn } from './roles.ts';
import type { RouteTools } from './route-tools.ts';

export function taskRoutes({ service, authority, shots, unsafePaperMode, now }: RouteTools): void {
  const { app, requireRole } = service;
  const isOffered = ({ engine, oneShot }: TaskPolicy): boolean =>
    oneShot !== undefined || (unsafePaperMode && engine === ENGINE.cpAbe);

  const about = Type.Object({ publicKey: hexText(32), time: Type.Integer(), head: Type.String() });
  app.get(
    AUTHORITY_PATH.about,
    { schema: { summary: 'The public key of the authority', response: answers(about) } },
    async () => {
      return { publicKey: toHex(authority.core.publicKey), time: now(), head: toHex(authority.headBytes()) };
    },
  );

  app.post(
    AUTHORITY_PATH.tasks,
    {
      onRequest: requireRole(...ROLES.createTask),
      schema: {
        summary: `Creates a task ${rolesIn(ROLES.createTask)}`,
        body: wireBytes('policy'),
        response: answers(Type.Object({ task: hexText(32) })),
      },
    },
    async (request) => {
      const policy = decodePolicy(bytesOf(request));
      if (!isOffered(policy))
        fail('policy-invalid', { detail: 'the task is not of the one-shot mode (paper mode needs unsafePaperMode)' });
      const { task } = granted(await authority.step((core) => core.createTask(policy)));
      if (policy.oneShot !== undefined) await openEpochIfDue(shots, taskOf(authority, { task: toHex(task) }));
      return { task: toHex(task) };
    },
  );

  const listed = Type.Object({
    task: hexText(32),
    name: Type.String(),
    devices: Type.Integer(),
  });
  app.get(
    AUTHORITY_PATH.tasks,
    {
      onRequest: requireRole(...ROLES.listTasks),
      schema: {
        summary: `All tasks ${rolesIn(ROLES.listTasks)}`,
        response: answers(Type.Object({ tasks: Type.Array(listed) })),
      },
    },
    async () => {
      const { directory } = authority;
      return {
        tasks: directory.tasks().map((known) => ({
          task: toHex(known.task),
          name: Buffer.from(known.policy.name).toString('utf8'),
          devices: directory.countDevices(known),
        })),
      };
    },
  );

  app.get(
    AUTHORITY_PATH.policy(':task'),
    { schema: { summary: 'The policy of a task', params: taskParams, response: answers(wireBytes('policy')) } },
    async (request, reply) => sendBytes(reply, encodePolicy(taskOf(authority, request.params).policy)),
  );

  app.post(
    AUTHORITY_PATH.taskRevocations(':task'),
    {
      schema: {
        summary: 'The revoked devices (server)',
        params: taskParams,
        ...exchange('revocationRequest', 'revocations'),
      },
    },
    async (request, reply) => {
      const asked = ofPathTask('revocationRequest', revocationRequestCodec.decode(bytesOf(request)), request.params);
      return sendBytes(reply, revocationsCodec.encode(granted(await authority.ask((core) => core.revocations(asked)))));
    },
  );
}
