/** Succession: the terms of a task, signatures for a successor, and the newest model signed again in a new term. */
import { toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  LINE_BYTES,
  lineCodec,
  MODEL_APPEND_BYTES,
  modelEntryCodec,
  TERM_BYTES,
  taskIdOf,
  termCodec,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import {
  answers,
  bytesOf,
  checkSender,
  exchange,
  fail,
  granted,
  hexText,
  sendBytes,
  Type,
  wireBytes,
} from '@basa/service';
import { settleEpochs } from '../steps/shot-epochs.ts';
import { checkSealing, ofPathTask, taskOf, taskParams } from './names.ts';
import type { RouteTools } from './route-tools.ts';

export function successionRoutes({ service, authority, shots }: RouteTools): void {
  const { app, requireRole } = service;

  app.get(
    AUTHORITY_PATH.line(':task'),
    {
      schema: {
        summary: 'The policy and the terms of a task',
        params: taskParams,
        response: answers(wireBytes('line')),
      },
    },
    async (request, reply) => {
      const { task } = await taskOf(authority, request.params);
      const line = await authority.look((core) => core.line(task));
      return sendBytes(reply, lineCodec.encode(line ?? fail('task-unknown')));
    },
  );

  app.put(
    AUTHORITY_PATH.line(':task'),
    {
      bodyLimit: LINE_BYTES,
      schema: {
        summary: 'Shows terms that enough authorities signed; a successor learns its task by it (anybody)',
        params: taskParams,
        body: wireBytes('line'),
        response: answers(Type.Object({ task: hexText(32) })),
      },
    },
    async (request) => {
      const line = lineCodec.decode(bytesOf(request));
      checkSealing(line.policy);
      ofPathTask('line', { task: taskIdOf(nodeSuite, line.policy) }, request.params);
      const { task } = granted(await authority.ask((core, now) => core.followLine(line, now)));
      await settleEpochs(shots);
      return { task: toHex(task) };
    },
  );

  app.post(
    AUTHORITY_PATH.terms(':task'),
    {
      onRequest: requireRole('operator'),
      bodyLimit: TERM_BYTES,
      schema: {
        summary: 'Signs a successor: as a seat of the task, or as the key that takes one (operator)',
        params: taskParams,
        ...exchange('term', 'term'),
      },
    },
    async (request, reply) => {
      const term = ofPathTask('term', termCodec.decode(bytesOf(request)), request.params);
      return sendBytes(reply, termCodec.encode(granted(await authority.step((core, now) => core.signTerm(term, now)))));
    },
  );

  app.put(
    AUTHORITY_PATH.renewedModel(':task'),
    {
      // The signatures of an earlier term may be those of stolen keys, so only the server shows them.
      onRequest: async (request) => {
        const { policy } = await taskOf(authority, request.params as { task: string });
        checkSender(request, { audience: authority.core.publicKey, publicKey: policy.serverKey });
      },
      bodyLimit: MODEL_APPEND_BYTES,
      schema: {
        summary: 'Signs the newest version of an earlier term again in this one (server)',
        params: taskParams,
        ...exchange('modelEntry', 'modelEntry'),
      },
    },
    async (request, reply) => {
      const shown = ofPathTask('modelEntry', modelEntryCodec.decode(bytesOf(request)), request.params);
      const entry = granted(await authority.ask((core) => core.renewModel(shown)));
      return sendBytes(reply, modelEntryCodec.encode(entry));
    },
  );
}
