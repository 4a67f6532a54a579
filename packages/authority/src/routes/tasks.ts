/** Tasks: their policies, the append-only logs of their models, and their revoked devices. */
import { fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  decodePolicy,
  ENGINE,
  encodePolicy,
  MODEL_APPEND_BYTES,
  modelAppendCodec,
  modelEntryCodec,
  newestModelCodec,
  revocationRequestCodec,
  revocationsCodec,
  type TaskPolicy,
} from '@basa/protocol';
import { answers, bytesOf, exchange, fail, granted, hexText, sendBytes, Type, wireBytes } from '@basa/service';
import { openEpochIfDue } from '../steps/shot-epochs.ts';
import { ofPathTask, taskOf, taskParams } from './names.ts';
import { ROLES, rolesIn } from './roles.ts';
import type { RouteTools } from './route-tools.ts';

export function taskRoutes({ service, authority, shots, unsafePaperMode, now, watch }: RouteTools): void {
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
    version: Type.Optional(Type.Integer({ description: 'version of the newest model; missing before the first' })),
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
      const { core, directory } = authority;
      return {
        tasks: directory.tasks().map((known) => {
          const newest = core.newestModel(known.task);
          return {
            task: toHex(known.task),
            name: Buffer.from(known.policy.name).toString('utf8'),
            ...(newest === undefined ? {} : { version: newest.version }),
            devices: directory.countDevices(known),
          };
        }),
      };
    },
  );

  app.get(
    AUTHORITY_PATH.policy(':task'),
    { schema: { summary: 'The policy of a task', params: taskParams, response: answers(wireBytes('policy')) } },
    async (request, reply) => sendBytes(reply, encodePolicy(taskOf(authority, request.params).policy)),
  );

  app.post(
    AUTHORITY_PATH.modelLog(':task'),
    {
      bodyLimit: MODEL_APPEND_BYTES,
      schema: {
        summary: 'Appends a version to the model log (server)',
        params: taskParams,
        ...exchange('modelAppend', 'modelEntry'),
      },
    },
    async (request, reply) => {
      const append = ofPathTask('modelAppend', modelAppendCodec.decode(bytesOf(request)), request.params);
      const appended = async () => granted(await authority.step((core) => core.appendModel(append)));
      const [ctx] = [...append.sums, ...append.spoilt];
      const entry = await (ctx === undefined
        ? appended()
        : watch.traces.step('log', { ctx, carrier: request.headers }, appended));
      return sendBytes(reply, modelEntryCodec.encode(entry));
    },
  );

  app.put(
    AUTHORITY_PATH.adoptedModel(':task'),
    {
      schema: {
        summary: 'Accepts a version that enough authorities signed (anybody)',
        params: taskParams,
        ...exchange('modelEntry', 'modelEntry'),
      },
    },
    async (request, reply) => {
      const shown = ofPathTask('modelEntry', modelEntryCodec.decode(bytesOf(request)), request.params);
      const entry = granted(await authority.ask((core) => core.adoptModel(shown)));
      return sendBytes(reply, modelEntryCodec.encode(entry));
    },
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

  const entryParams = Type.Object({
    ...taskParams.properties,
    version: Type.String({ pattern: '^(newest|[0-9]{1,15})$' }),
  });
  app.get(
    AUTHORITY_PATH.modelEntry(':task', ':version'),
    { schema: { summary: 'A version, or newest', params: entryParams, response: answers(wireBytes('modelEntry')) } },
    async (request, reply) => {
      const { task } = taskOf(authority, request.params);
      const { version } = request.params;
      const entry = await authority.look((core) =>
        version === 'newest' ? core.newestModel(task) : core.model(task, Number(version)),
      );
      return sendBytes(reply, modelEntryCodec.encode(entry ?? fail('model-not-logged')));
    },
  );

  const newestParams = Type.Object({ ...taskParams.properties, nonce: hexText(16) });
  app.get(
    AUTHORITY_PATH.newestModel(':task', ':nonce'),
    {
      schema: {
        summary: 'The newest version, signed together with the nonce of the request',
        params: newestParams,
        response: answers(wireBytes('newestModel')),
      },
    },
    async (request, reply) => {
      const { task } = taskOf(authority, request.params);
      const nonce = fromHex(request.params.nonce) ?? fail('malformed', { detail: 'nonce' });
      const newest = await authority.look((core) => core.showNewestModel(task, nonce));
      return sendBytes(reply, newestModelCodec.encode(newest ?? fail('model-not-logged')));
    },
  );
}
