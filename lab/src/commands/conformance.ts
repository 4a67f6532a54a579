/** `npm run lab -- conformance`: whether a client, or a server with its authorities, keeps to the protocol. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandResult,
  EXIT_CODE,
  needed,
  numberFlag,
  textFlag,
} from '@basa/cli/internal/command.ts';
import {
  AUTHORITIES_USAGE,
  AUTHORITY_FLAGS,
  authorityOperator,
  authorityTokenOf,
  SERVER_FLAGS,
  serverOperator,
} from '@basa/cli/internal/commands/connection.ts';
import type { Check, Verdict } from '@basa/conformance/report.ts';

export const conformanceClient: Command = {
  name: 'conformance client',
  summary: 'plays server and authorities against any client',
  usage: `  -- <command>         how the client is started; it contributes one update, and ends with 0 once the server has it.
                       It is told by variables: BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY (several with commas),
                       BASA_TASK, BASA_ENROLMENT_TOKEN, BASA_IDENTITY (its folder), BASA_UPDATE (a file of float32)
                       and BASA_PIECE_BYTES
  --only <text>        only scenes whose name holds this text
  --seconds <n>        kill a run of the client after n seconds (120)`,
  flags: { only: { type: 'string' }, seconds: { type: 'string' } },
  positionals: Number.POSITIVE_INFINITY,
  opening: 'starting server and authorities',
  async run(input) {
    const seconds = numberFlag(input, 'seconds', { min: 1, max: 86_400, fallback: 120 });
    const { commandClient } = await import('@basa/conformance/client/client-under-test.ts');
    const { checkClient } = await import('@basa/conformance/client/check-client.ts');
    const { startLocalServices } = await import('@basa/cli/internal/local-services.ts');
    const { createNodeSigner } = await import('@basa/runtime/node');
    const start = commandClient(input.positionals, { maxMs: 1000 * seconds, signal: input.signal });
    const folder = await mkdtemp(join(tmpdir(), 'basa-conformance-'));
    const { setTimeout: sleep } = await import('node:timers/promises');
    const { COUNCIL_SIZE } = await import('@basa/conformance/client/council-lies.ts');
    const { signal } = input;
    const services = await startLocalServices({ folder, signal, authorities: COUNCIL_SIZE });
    try {
      const serverSigner = createNodeSigner(await keyOf(join(folder, 'server', 'server.key')));
      const verdict = await checkClient({
        services: { ...services, serverSigner, elapse: (ms) => sleep(ms, undefined, { signal }) },
        folder,
        start,
        signal: input.signal,
        isPlayed: (scene) => scene.includes(textFlag(input, 'only') ?? ''),
        onCheck: printing(input),
      });
      return resultOf(input, verdict);
    } finally {
      await services.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

export const conformanceServer: Command = {
  name: 'conformance server',
  summary: 'plays a client against any server and its authorities',
  usage: `  Makes a task of its own with three devices, and leaves it paused.
  --server <url>       the server (BASA_SERVER)
${AUTHORITIES_USAGE}
  --token <text>       an operator's token (BASA_OPERATOR_TOKEN)
  --only <text>        only scenes whose name holds this text`,
  flags: { ...SERVER_FLAGS, ...AUTHORITY_FLAGS, only: { type: 'string' } },
  opening: 'making a task',
  async run(input) {
    const { checkServer } = await import('@basa/conformance/server/check-server.ts');
    const verdict = await checkServer({
      serverUrl: needed(input, 'server', 'BASA_SERVER'),
      authorityUrl: needed(input, 'authority', 'BASA_AUTHORITY'),
      operatorToken: needed(input, 'token', 'BASA_OPERATOR_TOKEN'),
      authorityToken: authorityTokenOf(input),
      server: await serverOperator(input),
      authority: await authorityOperator(input),
      signal: input.signal,
      isPlayed: (scene) => scene.includes(textFlag(input, 'only') ?? ''),
      onCheck: printing(input),
    });
    return resultOf(input, verdict);
  },
};

async function keyOf(file: string): Promise<Uint8Array> {
  const { fromHex } = await import('@basa/masking');
  const key = fromHex((await readFile(file, 'utf8')).trim());
  if (key === undefined) throw new CommandError('the key of the server that was started cannot be read');
  return key;
}

function printing({ terminal }: CommandInput): (check: Check) => void {
  return ({ name, holds, detail }) =>
    terminal.line(holds ? `  holds  ${name}` : `  FAILS  ${name}\n         ${detail}`);
}

function resultOf({ terminal }: CommandInput, verdict: Verdict): CommandResult {
  const { held, failed } = verdict;
  terminal.line(`${held} of ${held + failed} checks hold.`);
  if (held + failed === 0) throw new CommandError('no scene has such a name; leave --only out to see them all');
  return { json: verdict, exitCode: failed > 0 ? EXIT_CODE.failed : EXIT_CODE.fine };
}
