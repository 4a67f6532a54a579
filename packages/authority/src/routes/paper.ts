/** UNSAFE: the authority of `paper` mode, mounted with `unsafePaperMode` only. */
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { issuePaperKey, PaperTicket } from '@basa/protocol/paper';
import { nodeSuite } from '@basa/runtime/node';
import {
  answers,
  bytesOf,
  deviceOf,
  exchange,
  fail,
  granted,
  rememberRequest,
  sendBytes,
  wireBytes,
} from '@basa/service';
import type { PaperKeys } from '../keys/paper-keys.ts';
import type { AuthorityContext } from '../steps/context.ts';
import type { KnownTask } from '../steps/tasks.ts';
import { taskOf, taskParams } from './route-tools.ts';

export function unsafePaperRoutes({ service, tasks, store, keyLimits }: AuthorityContext, keys: PaperKeys): void {
  const { app, requireDevice } = service;
  const paperTask = async (params: { readonly task: string }): Promise<KnownTask> => {
    const known = taskOf(tasks, params);
    if (known.policy.oneShot !== undefined) fail('policy-invalid', { detail: 'the task does not use paper mode' });
    return known;
  };

  app.get(
    AUTHORITY_PATH.unsafePaperSealingKey(':task'),
    {
      schema: {
        summary: 'UNSAFE: the public key with which users of paper mode encrypt (only with unsafePaperMode)',
        params: taskParams,
        response: answers(wireBytes('sealing key')),
      },
    },
    async (request, reply) => {
      const { task } = await paperTask(request.params);
      return sendBytes(reply, (await keys.issuerOf(task)).publicKey);
    },
  );

  app.post(
    AUTHORITY_PATH.unsafePaperKeys(':task'),
    {
      onRequest: requireDevice({ limits: keyLimits }),
      schema: {
        summary: 'UNSAFE: the key of a position of paper mode (only with unsafePaperMode)',
        params: taskParams,
        ...exchange('paperTicket', 'key'),
      },
    },
    async (request, reply) => {
      const { task, policy } = await paperTask(request.params);
      const { user } = deviceOf(request);
      await store.transaction(async (tables) => {
        if (await tables.isRevoked(user)) fail('revoked');
        if (!(await tables.isEnrolled(task, user))) fail('not-enrolled');
      });
      rememberRequest(request);
      const ports = { suite: nodeSuite, issuer: await keys.issuerOf(task), serverKey: policy.serverKey };
      const { key } = granted(issuePaperKey(ports, user, PaperTicket.decode(bytesOf(request))));
      return sendBytes(reply, key);
    },
  );
}
