/** The identity of this server, and the status of its batches. */
import { fromHex, toHex } from '@basa/masking';
import { type Ctx, SERVER_PATH, type ShotBatch } from '@basa/protocol';
import { answers, fail, hexText, Type } from '@basa/service';
import type { RouteContext } from './context.ts';

const about = Type.Object({
  publicKey: hexText(32),
  authorityKeys: Type.Array(hexText(32)),
  time: Type.Integer(),
});
const batchState = Type.Object({
  ctx: hexText(32),
  task: hexText(32),
  status: Type.String(),
  version: Type.Integer(),
  bufferSize: Type.Integer(),
  minimum: Type.Integer(),
  users: Type.Array(hexText(32)),
  includedIn: Type.Optional(Type.Integer({ description: 'the version that it is a part of' })),
});

function stateOf({ ctx, task, status, rules, users, includedIn }: ShotBatch) {
  const { version, bufferSize, minimum } = rules;
  return {
    ctx: toHex(ctx),
    task: toHex(task),
    status,
    version,
    bufferSize,
    minimum,
    users: users.map(toHex),
    ...(includedIn !== undefined && { includedIn }),
  };
}

export function mountAbout(context: RouteContext): void {
  const { app, requireRole } = context.service;
  const { ports } = context;
  app.get(
    SERVER_PATH.about,
    { schema: { summary: 'The keys and the time of this server', response: answers(about) } },
    async () => ({
      publicKey: toHex(ports.signer.publicKey),
      authorityKeys: context.authorities.all.map(({ publicKey }) => toHex(publicKey)),
      time: context.clock(),
    }),
  );
  const params = Type.Object({ ctx: hexText(32, 'the name of a batch') });
  const schema = { summary: 'The state of a batch (operator)', params, response: answers(batchState) };
  app.get(SERVER_PATH.buffer(':ctx'), { onRequest: requireRole('operator'), schema }, async (request) => {
    const batch = await context.batches.fresh(fromHex(request.params.ctx) as Ctx);
    return stateOf(batch ?? fail('buffer-unknown'));
  });
}
