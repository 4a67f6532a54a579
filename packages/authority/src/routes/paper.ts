/** UNSAFE: the authority of `paper` mode, mounted with `unsafePaperMode` only. Its keys are in no log. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, ENGINE, issuePaperKey, paperTicketCodec } from '@basa/protocol';
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
import { PAPER_EPOCH } from '../keys/key-epochs.ts';
import type { KnownTask } from '../log/directory.ts';
import { taskOf, taskParams } from './names.ts';
import type { RouteTools } from './route-tools.ts';

export function unsafePaperRoutes({ service, authority, epochs, keyLimits }: RouteTools): void {
  const { app, requireDevice } = service;

  const sealingKeyOf = ({ task, policy }: KnownTask): Promise<Uint8Array> => {
    if (policy.engine !== ENGINE.cpAbe) fail('policy-invalid', { detail: 'paper mode needs the engine cp-abe' });
    return authority.locked(async ({ tables }) => {
      const epoch = await epochs.of(tables, task, policy.engine, PAPER_EPOCH);
      await epochs.store(tables, epoch);
      return epoch.publicKey;
    });
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
    async (request, reply) => sendBytes(reply, await sealingKeyOf(await taskOf(authority, request.params))),
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
      const sealingKey = await sealingKeyOf(await taskOf(authority, request.params));
      await authority.look(() => undefined); // unlocks the key if it is new here
      const known = await taskOf(authority, request.params);
      const { user } = deviceOf(request);
      if (authority.directory.isRevoked(user)) fail('revoked');
      if (!known.certificates.has(toHex(user))) fail('not-enrolled');
      rememberRequest(request);
      const issuer = epochs.attributesOf(sealingKey) ?? fail('internal');
      const ports = { suite: nodeSuite, issuer, serverKey: known.policy.serverKey };
      const { key } = granted(issuePaperKey(ports, user, paperTicketCodec.decode(bytesOf(request))));
      return sendBytes(reply, key);
    },
  );
}
