/** The identity of this server, and the status of its buffers. */
import { fromHex, toHex } from '@basa/masking';
import { type Ctx, type Fate, fateOf, type JoinTag, SERVER_PATH, type ShotBatch } from '@basa/protocol';
import { answers, fail, hexText, Type } from '@basa/service';
import { bufferParams, foundBuffer, type RouteContext } from './context.ts';

const about = Type.Object({
  publicKey: hexText(32),
  nextKey: Type.Optional(hexText(32, 'the key that replaces it, in tasks whose terms say so')),
  authorityKeys: Type.Array(hexText(32)),
  time: Type.Integer(),
});
const FATES: readonly Fate[] = ['pending', 'included', 'excluded', 'aborted', 'quarantined', 'unknown'];
const fate = Type.Object({ fate: Type.Unsafe<Fate>({ enum: FATES }) });
const bufferState = Type.Object({
  ctx: hexText(32),
  task: hexText(32),
  status: Type.String(),
  version: Type.Integer(),
  bufferSize: Type.Integer(),
  minimum: Type.Integer(),
  expiry: Type.Integer(),
  closeBy: Type.Integer(),
  slots: Type.Array(
    Type.Object({
      slot: Type.Integer(),
      user: hexText(32),
      status: Type.String(),
      deadline: Type.Integer(),
      voids: Type.Array(Type.Integer()),
    }),
  ),
  accepted: Type.Array(Type.Integer()),
});

/** A batch has all its updates from the start, so it waits for no upload and has no expiry time. */
function batchState({ ctx, task, status, rules, users }: ShotBatch) {
  const { version, bufferSize, minimum } = rules;
  const slot = { status: 'accepted', deadline: 0, voids: [] };
  return {
    ...{ ctx: toHex(ctx), task: toHex(task), status, version, bufferSize, minimum, expiry: 0, closeBy: 0 },
    slots: users.map((user, n) => ({ ...slot, slot: n, user: toHex(user) })),
    accepted: users.map((_, n) => n),
  };
}

export function mountAbout(context: RouteContext): void {
  const { app, requireRole } = context.service;
  const { nextSigner, ports } = context;
  app.get(
    SERVER_PATH.about,
    { schema: { summary: 'The keys and the time of this server', response: answers(about) } },
    async () => ({
      publicKey: toHex(ports.signer.publicKey),
      ...(nextSigner !== undefined && { nextKey: toHex(nextSigner.publicKey) }),
      authorityKeys: context.authorities.all.map(({ publicKey }) => toHex(publicKey)),
      time: context.clock(),
    }),
  );
  const fateParams = Type.Object({ ctx: hexText(32), joinTag: hexText(32) });
  const fateSchema = {
    summary: 'The status of an update according to the server',
    params: fateParams,
    response: answers(fate),
  };
  app.get(SERVER_PATH.fate(':ctx', ':joinTag'), { schema: fateSchema }, async ({ params }) => {
    const buffer = await foundBuffer(context, params.ctx);
    const found = fateOf(buffer, fromHex(params.joinTag) as JoinTag);
    return { fate: found ?? fail('slot-unknown') };
  });
  const bufferSchema = {
    summary: 'The state of a buffer (operator)',
    params: bufferParams,
    response: answers(bufferState),
  };
  const onlyOperators = { onRequest: requireRole('operator'), schema: bufferSchema };
  app.get(SERVER_PATH.buffer(':ctx'), onlyOperators, async ({ params }) => {
    const batch = await context.batches.fresh(fromHex(params.ctx) as Ctx);
    if (batch !== undefined) return batchState(batch);
    const { ctx, descriptor, status, slots, accepted } = await foundBuffer(context, params.ctx);
    return {
      ctx: toHex(ctx),
      task: toHex(descriptor.task),
      status,
      version: descriptor.version,
      bufferSize: descriptor.bufferSize,
      minimum: descriptor.minimum,
      expiry: descriptor.expiry,
      closeBy: descriptor.closeBy,
      slots: slots.map(({ ticket, user, status: slotStatus, graceMs, header }) => ({
        slot: ticket.slot,
        user: toHex(user),
        status: slotStatus,
        deadline: ticket.deadline + graceMs,
        voids: [...(header?.voids ?? [])],
      })),
      accepted: [...accepted],
    };
  });
}
