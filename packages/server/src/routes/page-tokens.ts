/**
 * Enrolment tokens for visitors of a page, so that trying things out takes one click. A token is an empty file in a folder named after its
 * task. Removing the file assigns the token to only one page, even with several nodes.
 */
import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVER_PATH } from '@basa/protocol';
import { fail } from '@basa/service';
import { type RouteContext, taskParams } from './context.ts';

export function mountPageTokens({ service }: RouteContext, folder: string): void {
  const schema = { params: taskParams, hide: true, response: {} };
  service.app.post(SERVER_PATH.pageTokens(':task'), { schema }, async ({ params }) => ({
    token: (await takeToken(join(folder, params.task))) ?? fail('not-found', { detail: 'no enrolment token is left' }),
  }));
}

async function takeToken(folder: string): Promise<string | undefined> {
  for (const token of await readdir(folder).catch(() => [])) {
    const isOurs = await unlink(join(folder, token)).then(
      () => true,
      () => false,
    );
    if (isOurs) return token;
  }
  return undefined;
}
