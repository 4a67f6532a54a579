/** Tasks, and their policies. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { ENGINE, TaskPolicy } from '@basa/protocol/policy';
import { answers, bytesOf, fail, granted, hexText, sendBytes, Type, wireBytes } from '@basa/service';
import type { AuthorityContext } from '../steps/context.ts';
import { openEpochIfDue } from '../steps/shots.ts';
import { ROLES, rolesIn, taskOf, taskParams } from './route-tools.ts';

export function taskRoutes(context: AuthorityContext): void {
  const { service, tasks, store, signer, unsafePaperMode, now } = context;
  const { app, requireRole } = service;
  const isOffered = ({ engine, oneShot }: TaskPolicy): boolean =>
    oneShot !== undefined || (unsafePaperMode && engine === ENGINE.cpAbe);

  const about = Type.Object({ publicKey: hexText(32), time: Type.Integer() });
  app.get(
    AUTHORITY_PATH.about,
    { schema: { summary: 'The public key of the authority', response: answers(about) } },
    async () => {
      return { publicKey: toHex(signer.publicKey), time: now() };
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
      const policy = TaskPolicy.decode(bytesOf(request));
      if (!isOffered(policy))
        fail('policy-invalid', { detail: 'the task is not of the one-shot mode (paper mode needs unsafePaperMode)' });
      const known = granted(await tasks.create(policy));
      if (policy.oneShot !== undefined) await openEpochIfDue(context, known);
      return { task: toHex(known.task) };
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
      const counts = await store.transaction((tables) =>
        Promise.all(tasks.all.map(({ task }) => tables.countDevices(task))),
      );
      return {
        tasks: tasks.all.map(({ task, policy }, n) => ({
          task: toHex(task),
          name: Buffer.from(policy.name).toString('utf8'),
          devices: counts[n] ?? 0,
        })),
      };
    },
  );

  app.get(
    AUTHORITY_PATH.policy(':task'),
    { schema: { summary: 'The policy of a task', params: taskParams, response: answers(wireBytes('policy')) } },
    async (request, reply) => sendBytes(reply, TaskPolicy.encode(taskOf(tasks, request.params).policy)),
  );
}
