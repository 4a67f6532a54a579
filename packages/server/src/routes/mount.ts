/** All routes of a server (docs/http.md). */

import { fromHex, toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import { SERVER_PATH } from '@basa/protocol/http';
import type { Sums } from '@basa/protocol/one-shot';
import { answers, fail, hexText, Type } from '@basa/service';
import { type RouteContext, readersOf } from './context.ts';
import { mountAdmissions, mountModels } from './models.ts';
import { mountEvents, mountPages, mountPageTokens, type PageOptions } from './pages.ts';
import { mountUnsafePaper } from './paper.ts';
import { mountShots } from './shots.ts';
import { mountStatistics } from './statistics.ts';
import { mountTasks } from './tasks.ts';

export function mountRoutes(context: RouteContext): void {
  const readers = readersOf(context);
  mountAbout(context);
  mountTasks(context, readers);
  mountModels(context, readers);
  mountStatistics(context, readers);
  mountAdmissions(context);
  mountShots(context);
  mountUnsafePaper(context);
}

/** The routes for viewers, if the server is configured to show itself. */
export function mountShow(context: RouteContext, pages: PageOptions): void {
  mountEvents(context, readersOf(context));
  mountPages(context, pages);
  if (pages.tokensFolder !== undefined) mountPageTokens(context, pages.tokensFolder);
}

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

function stateOf({ ctx, task, status, rules, users, includedIn }: Sums.ShotBatch) {
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

/** The identity of this server, and the status of its batches. */
function mountAbout(context: RouteContext): void {
  const { app, requireRole } = context.service;
  const { ports } = context;
  app.get(
    SERVER_PATH.about,
    { schema: { summary: 'The keys and the time of this server', response: answers(about) } },
    async () => ({
      publicKey: toHex(ports.signer.publicKey),
      authorityKeys: context.links.map(({ publicKey }) => toHex(publicKey)),
      time: context.clock(),
    }),
  );
  const params = Type.Object({ ctx: hexText(32, 'the name of a batch') });
  const schema = { summary: 'The state of a batch (operator)', params, response: answers(batchState) };
  app.get(SERVER_PATH.batch(':ctx'), { onRequest: requireRole('operator'), schema }, async (request) => {
    const batch = await context.batches.find(fromHex(request.params.ctx) as Ctx);
    return stateOf(batch ?? fail('batch-unknown'));
  });
}
