/** Uploads into the slots of buffers. */
import { equalBytes } from '@basa/masking';
import {
  authorityMessages,
  HEADER,
  judgeHeader,
  millis,
  SERVER_PATH,
  type SecureBuffer,
  type UploadHeader,
} from '@basa/protocol';
import { answerRefusal, deviceOf, fail, hexText, rememberRequest, Type } from '@basa/service';
import { layoutOf } from '../buffers/messages.ts';
import { knownBuffer, type RouteContext } from './context.ts';
import { headerBytesOf, type JudgedUpload, mountPieces, type PieceOfRequest } from './pieces.ts';

const params = Type.Object({ ctx: hexText(32), slot: Type.String({ pattern: '^[0-9]{1,4}$' }) });
type Params = Type.Static<typeof params>;

export function mountUploads(context: RouteContext): void {
  mountPieces(context.service, {
    path: SERVER_PATH.upload(':ctx', ':slot'),
    params,
    summary: 'A piece of an upload (device)',
    judge: (request) => judge(context, request),
  });
}

/** Refuses an upload that is late, unknown or unauthorised. */
async function judge(context: RouteContext, request: PieceOfRequest): Promise<JudgedUpload> {
  const { uploads, tasks, nodes } = context;
  const { ctx, slot } = request.params as Params;
  if (!/^[0-9a-f]{64}$/.test(ctx)) fail('buffer-unknown');
  const known = await knownBuffer(context, ctx);
  const header = authorityMessages(known.descriptor.bufferSize).uploadHeader.decode(headerBytesOf(request));
  if (header.slot !== Number(slot)) fail('malformed', { detail: `${HEADER.upload}: of another slot than the address` });
  const { buffer, verdict } = await judged(context, known, header);
  const { user, deviceKey } = deviceOf(request);
  const holder = buffer.slots[header.slot];
  if (holder !== undefined && !equalBytes(holder.deviceKey, deviceKey)) fail('not-yours');
  if (verdict.kind === 'refused') answerRefusal(verdict);
  const isAcceptedBefore = verdict.kind === 'accepted-before';
  // An upload that was accepted before gets the same answer again: it stays in its sum.
  if (!isAcceptedBefore) await context.revocations.check(buffer.descriptor, user);
  rememberRequest(request);
  const upload = { buffer, header };
  return {
    bodyBytes: layoutOf(upload).bodyBytes,
    isAcceptedBefore,
    standing: () => uploads.standing(upload),
    async take(piece) {
      const result = await uploads.take(upload, piece);
      if (!result.accepted) return result;
      tasks.uploaded(buffer.task, buffer.ctx, user);
      nodes.tell.upload(buffer.task, buffer.ctx);
      return result;
    },
  };
}

/** A copy of this node may be old: a refusal is decided by the store's content, on the store's clock. */
async function judged({ ports, keeper, store, clock, nodes }: RouteContext, known: SecureBuffer, header: UploadHeader) {
  const verdict = judgeHeader(ports, known, header, millis(clock()));
  if (verdict.kind !== 'refused') return { buffer: known, verdict };
  return nodes.upToDate({ buffer: known, verdict }, async () => {
    const buffer = (await keeper.fresh(known.ctx)) ?? known;
    return { buffer, verdict: judgeHeader(ports, buffer, header, millis(await store.now())) };
  });
}
