/** `npm run lab -- conformance`: checks that a client, or a server with its authorities, follows the protocol. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AUTHORITY_FLAGS,
  authorityOperator,
  SERVER_FLAGS,
  serverOperator,
} from '@basa/cli/internal/flags/connection.ts';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandResult,
  command,
  EXIT_CODE,
} from '@basa/cli/internal/shell/command.ts';
import { needed, text, whole } from '@basa/cli/internal/shell/flag.ts';
import type { Check, Verdict } from '@basa/conformance/report.ts';

const onlyFlag = text({
  help: 'run only the scenes whose name contains this text',
  default: '',
  without: 'all scenes',
});

export const conformanceClient: Command = command({
  name: 'conformance client',
  summary: 'test any client against our server and authorities',
  takes: {
    '-- <command>':
      'command that starts the client. The client contributes one update, and exits with 0 once the server has it. It gets its settings from environment variables: BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY (several are separated by commas), BASA_TASK, BASA_ENROLMENT_TOKEN, BASA_IDENTITY (its folder), BASA_UPDATE (a file of float32 values) and BASA_PIECE_BYTES',
  },
  takesMany: true,
  flags: {
    only: onlyFlag,
    seconds: whole({ help: 'stop the client if it runs longer than n seconds', min: 1, max: 86_400, default: 120 }),
  },
  opening: 'starting server and authorities',
  async run(input) {
    const { only, seconds } = input.flags;
    const { commandClient } = await import('@basa/conformance/client/client-under-test.ts');
    const { checkClient } = await import('@basa/conformance/client/check-client.ts');
    const { startLocalServices } = await import('@basa/cli/internal/local/local-services.ts');
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
        isPlayed: (scene) => scene.includes(only),
        onCheck: printing(input),
      });
      return resultOf(input, verdict);
    } finally {
      await services.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
});

export const conformanceServer: Command = command({
  name: 'conformance server',
  summary: 'test any server and its authorities with our client',
  flags: {
    ...SERVER_FLAGS,
    ...AUTHORITY_FLAGS,
    token: needed({ help: "an operator's token of the server", variable: 'BASA_OPERATOR_TOKEN' }),
    only: onlyFlag,
  },
  notes: ['Creates two tasks with three devices each, one in the one-shot mode, and leaves them paused.'],
  opening: 'making a task',
  async run(input) {
    const { flags } = input;
    const { authority: authorityUrl, only, server: serverUrl, token: operatorToken } = flags;
    const { checkServer } = await import('@basa/conformance/server/check-server.ts');
    const verdict = await checkServer({
      serverUrl,
      authorityUrl,
      operatorToken,
      authorityToken: flags['authority-token'],
      server: await serverOperator(input),
      authority: await authorityOperator(input),
      signal: input.signal,
      isPlayed: (scene) => scene.includes(only),
      onCheck: printing(input),
    });
    return resultOf(input, verdict);
  },
});

async function keyOf(file: string): Promise<Uint8Array> {
  const { fromHex } = await import('@basa/masking');
  const key = fromHex((await readFile(file, 'utf8')).trim());
  if (key === undefined)
    throw new CommandError('the key file of the server that was started is not valid hex; run the command again');
  return key;
}

function printing({ terminal }: Pick<CommandInput, 'terminal'>): (check: Check) => void {
  return ({ name, holds, detail }) =>
    terminal.line(holds ? `  holds  ${name}` : `  FAILS  ${name}\n         ${detail}`);
}

function resultOf({ terminal }: Pick<CommandInput, 'terminal'>, verdict: Verdict): CommandResult {
  const { held, failed } = verdict;
  terminal.line(`${held} of ${held + failed} checks hold.`);
  if (held + failed === 0)
    throw new CommandError('no scene has a name with the text of --only; remove --only to run all scenes');
  return { json: verdict, exitCode: failed > 0 ? EXIT_CODE.failed : EXIT_CODE.fine };
}
