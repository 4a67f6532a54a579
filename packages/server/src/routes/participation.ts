/** A device takes a seat, and deposits its sealed seeds. */
import { equalBytes } from '@basa/masking';
import {
  acceptDeposit,
  certificateCodec,
  certificateProblem,
  ctxOf,
  drawnBufferCodec,
  millis,
  SERVER_PATH,
  seatRequestCodec,
  type UserId,
} from '@basa/protocol';
import {
  answers,
  BYTES_MEDIA_TYPE,
  bytesOf,
  deviceOf,
  exchange,
  type FastifyRequest,
  fail,
  granted,
  needDeclaredLength,
  rememberRequest,
  Type,
  wireBytes,
} from '@basa/service';
import { depositBytes, MAX_DEPOSIT_BYTES, messagesOf } from '../buffers/messages.ts';
import { MAX_UNFINISHED_SLOTS, TooManySlots } from '../store/slots.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import { askingAuthority, bufferParams, foundTask, knownBuffer, type RouteContext, taskParams } from './context.ts';
import { standingsWithPlace } from './shots.ts';

export function mountParticipation(context: RouteContext): void {
  const { service, keeper, store, ports, watch } = context;
  const { app } = service;
  const onRequest = service.requireDevice();

  const seatSchema = {
    summary: 'A seat in an open buffer for updates on a version (device)',
    params: taskParams,
    ...exchange('seatRequest', 'drawnBuffer'),
  };
  app.post(
    SERVER_PATH.seats(':task'),
    { onRequest, schema: seatSchema, config: { begins: true } },
    async (request, reply) => {
      const startedAt = Date.now();
      const task = await foundTask(context, request.params.task);
      const seat = seatRequestCodec.decode(bytesOf(request));
      const { deviceKey } = deviceOf(request);
      if (!equalBytes(seat.certificate.deviceKey, deviceKey)) fail('not-yours');
      const unused = await checkStanding(context, task, request);
      const drawn = granted(
        await askingAuthority(
          () => task.entrance.take(seat, unused),
          () => task.tuned.retryAfterMs,
        ),
      );
      rememberRequest(request);
      watch.traces.past('seat', startedAt, { ctx: ctxOf(ports.suite, drawn.descriptor) });
      return reply.type(BYTES_MEDIA_TYPE).send(Buffer.from(drawnBufferCodec.encode(drawn)));
    },
  );

  const admissionSchema = {
    summary: 'A place to train, which a device requests before it downloads the model (device)',
    params: taskParams,
    body: wireBytes('certificate'),
    response: answers(
      Type.Object({
        endsInMs: Type.Integer(),
        standings: Type.Optional(
          Type.String({ description: 'One-shot: the current statements of the authorities, in hexadecimal digits' }),
        ),
      }),
    ),
  };
  app.post(
    SERVER_PATH.admissions(':task'),
    { onRequest, schema: admissionSchema, config: { begins: true } },
    async (request) => {
      const task = await foundTask(context, request.params.task);
      const certificate = certificateCodec.decode(bytesOf(request));
      if (!equalBytes(certificate.deviceKey, deviceOf(request).deviceKey)) fail('not-yours');
      const problem = certificateProblem(ports, task.enrolledFor, certificate, millis(context.clock()));
      if (problem !== undefined) granted(problem);
      // Only devices of the task count: others could use up its share with keys that cost nothing.
      const wait = context.taskLimits?.take(request.params.task, deviceOf(request).user, context.clock());
      if (wait !== undefined)
        fail('rate-limited', { ...wait, detail: 'the devices of this task ask for places too often' });
      const unused = await checkStanding(context, task, request);
      rememberRequest(request);
      const { leftMs } = await task.admit(certificate, unused);
      return { endsInMs: Math.floor(leftMs), ...(await standingsWithPlace(task)) };
    },
  );
  const discardSchema = {
    summary: 'Gives back an unused place (device)',
    params: taskParams,
    response: answers(Type.Object({})),
  };
  app.delete(SERVER_PATH.admissions(':task'), { onRequest, schema: discardSchema }, async (request) => {
    const task = await foundTask(context, request.params.task);
    await task.admission.discard(deviceOf(request).user, 'returned');
    return {};
  });

  const depositSchema = {
    summary: 'Deposits sealed seeds for a slot (device)',
    params: bufferParams,
    ...exchange('deposit', 'depositAnswer'),
  };
  /** Before the body is read: the buffer is known, and bounds it. */
  const fits = async (request: FastifyRequest): Promise<void> =>
    needDeclaredLength(
      request,
      depositBytes((await knownBuffer(context, (request.params as { ctx: string }).ctx)).descriptor),
    );
  const depositRoute = { onRequest: [onRequest, fits], bodyLimit: MAX_DEPOSIT_BYTES, schema: depositSchema };
  app.post(SERVER_PATH.deposits(':ctx'), depositRoute, async (request, reply) => {
    const startedAt = Date.now();
    const { ctx, descriptor } = await knownBuffer(context, request.params.ctx);
    const codecs = messagesOf(descriptor);
    const deposit = codecs.deposit.decode(bytesOf(request));
    if (!equalBytes(deposit.ctx, ctx)) fail('malformed', { detail: 'deposit.ctx: not the buffer of the address' });
    if (!equalBytes(deposit.certificate.deviceKey, deviceOf(request).deviceKey)) fail('not-yours');
    const task = await foundTask(context, Buffer.from(descriptor.task).toString('hex'));
    await context.revocations.check(task.enrolledFor, deviceOf(request).user);
    await task.suspicion.check(deviceOf(request).user);
    if (!(await task.entrance.admits(deposit.certificate, ctx))) fail('seat-missing');
    const ticket = granted(
      await withinSlots(() => keeper.step(ctx, (buffer, now) => acceptDeposit(task.ports, buffer, deposit, now))),
    );
    rememberRequest(request);
    task.deposited(deposit.certificate, ctx);
    const entries = await store.inbox(ctx, ticket.slot);
    // A buffer that ended has no seeds any more, so they cannot be sent again.
    if (entries.length < ticket.slot) fail('buffer-over');
    watch.traces.past('deposit', startedAt, { ctx, slot: ticket.slot });
    const inbox = entries.map((entry) => codecs.inboxEntry.decode(entry));
    return reply.type(BYTES_MEDIA_TYPE).send(Buffer.from(codecs.depositAnswer.encode({ ticket, inbox })));
  });
}

/**
 * Checks that the device can use a seat: it is not revoked, suspended or banned, has not left too many slots and places unused, and has
 * fewer than two slots to finish. Returns the number that it left unused.
 */
async function checkStanding(
  context: RouteContext,
  { task, enrolledFor, suspicion }: RunningTask,
  request: Parameters<typeof deviceOf>[0],
): Promise<number> {
  const { user } = deviceOf(request);
  await context.revocations.check(enrolledFor, user);
  await suspicion.check(user);
  const unused = await checkQuota(context, user);
  // The deposit is checked in the same way, and there two at a time cannot both pass.
  const { slots, freeInMs } = await context.store.unfinishedSlots(task, user);
  if (slots >= MAX_UNFINISHED_SLOTS) tooManySlots(freeInMs);
  return unused;
}

async function withinSlots<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TooManySlots) tooManySlots(error.freeInMs);
    throw error;
  }
}

function tooManySlots(retryAfterMs: number): never {
  fail('too-many-slots', { detail: `at most ${MAX_UNFINISHED_SLOTS} in a task`, retryAfterMs });
}

async function checkQuota({ store, burntSlots }: RouteContext, user: UserId): Promise<number> {
  const { max, withinMs } = burntSlots;
  const unused = await store.burntSince(user, (await store.now()) - withinMs);
  if (unused < max) return unused;
  return fail('quota-exceeded', { detail: `${unused} slots or places within ${withinMs} ms`, retryAfterMs: withinMs });
}
