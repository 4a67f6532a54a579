/** `basa succession destroy`: overwrites and removes the key file of a retired authority or server. */
import { open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ServerOperator } from '@basa/client/operator';
import type { Line, TaskPolicy } from '@basa/protocol';
import { SERVER_FLAGS, serverOperator } from '../flags/connection.ts';
import { short } from '../flags/names.ts';
import { CONFIG_FLAGS, placesOf, serviceOf } from '../flags/places.ts';
import { keyIn, policiesOf } from '../flags/succession.ts';
import { type Command, CommandError, type CommandInput, command } from '../shell/command.ts';
import { text, yes } from '../shell/flag.ts';

const FLAGS = {
  key: text({ value: 'file', help: 'old secret key of the server' }),
  ...CONFIG_FLAGS,
  'dry-run': yes('check whether the key is still needed; nothing is changed'),
  'even-if-listed': yes(
    'destroy the key although tasks in the log of its authority use it; only if all of them are finished',
  ),
  yes: yes('confirm the destruction; the key cannot be recovered'),
  ...SERVER_FLAGS,
};

interface OldKey {
  readonly file: string;
  readonly publicKey: Uint8Array;
  /** The tasks in the log of an authority, by their names. */
  readonly lines: ReadonlyMap<string, Line>;
}

export const successionDestroy: Command = command({
  name: 'succession destroy',
  summary: 'overwrite and remove the old key of a service that another key has replaced',
  takes: { 'server | authority': 'the service whose old key is destroyed' },
  flags: FLAGS,
  notes: [
    'For the server, --key is the file with the old key. For an authority, --config is its configuration; stop it on all its nodes first. Its key file is destroyed, and its data folder can no longer be opened.',
    'The command refuses if a task of the server that is not finished uses the key, now or in a term that is published.',
    'For an authority, the server must also show the signed term of every task in its log in which the key was replaced, because a server may hide tasks. Add --even-if-listed if the tasks that the command names are finished, or are on another server where you used --dry-run.',
    'Copies and backups of the file remain, and so may old blocks on SSDs and on file systems that copy on write. Destroy them as well.',
  ],
  async run(input) {
    const server = await serverOperator(input);
    const { file, publicKey, lines } =
      serviceOf(input) === 'server' ? await serverKey(input) : await authorityKey(input);
    const { toHex } = await import('@basa/masking');
    const key = toHex(publicKey);
    await refuseIfUsed(server, key);
    if (!input.flags['even-if-listed']) await refuseIfListed(server, key, lines);
    const { 'dry-run': isDryRun, yes: isSure } = input.flags;
    const json = { file, key, isDryRun };
    if (isDryRun) {
      input.terminal.line(`no task uses the key ${short(key)}: ${file} can be destroyed; nothing was changed`);
      return { json };
    }
    if (!isSure) throw new CommandError(`this would destroy ${file} (key ${short(key)}) permanently; add --yes`);
    await destroyFile(file);
    input.terminal.line(
      `${file} (key ${short(key)}) was overwritten and removed; destroy its copies and backups as well`,
    );
    return { json };
  },
});

async function serverKey({ flags: { key: file } }: CommandInput<typeof FLAGS>): Promise<OldKey> {
  if (file === undefined) throw new CommandError('--key is missing: name the file with the old key of the server');
  const { createNodeSigner } = await import('@basa/runtime/node');
  return { file, publicKey: createNodeSigner(await keyIn(file, 'key', 'secret')).publicKey, lines: new Map() };
}

async function authorityKey(input: CommandInput<typeof FLAGS>): Promise<OldKey> {
  const { sealingKeyOf } = await import('@basa/authority');
  const { keyFile: file, ...rest } = await sealingKeyOf(placesOf(input));
  return { file, ...rest };
}

async function refuseIfUsed(server: ServerOperator, key: string): Promise<void> {
  if ((await server.about()).publicKey === key)
    throw new CommandError(
      `the server still runs with the key ${short(key)}, so it was not destroyed; put the new key in its place and restart the server`,
    );
  const running = (await server.tasks()).filter(({ state }) => state !== 'finished');
  for (const { task, name } of running)
    if ((await keysInUse(await server.line(task))).has(key))
      throw new CommandError(
        `the task ${name} (${short(task)}) uses the key ${short(key)}, so it was not destroyed; replace the key in a term that has begun (\`basa succession propose\`), or finish the task`,
      );
}

/** The server may hide a task or call it finished. It cannot forge the term in which enough seats replaced the key. */
async function refuseIfListed(server: ServerOperator, key: string, lines: OldKey['lines']): Promise<void> {
  const listed: string[] = [];
  for (const [task, line] of lines)
    if ((await keysInUse(line)).has(key) && !(await isReplaced(server, task, key))) listed.push(short(task));
  if (listed.length > 0)
    throw new CommandError(
      `the log of the authority has tasks in which its key ${short(key)} is in use, and the server shows no term that replaces it (${listed.join(', ')}), so the key was not destroyed; publish the terms, or add --even-if-listed if these tasks are finished`,
    );
}

async function isReplaced(server: ServerOperator, task: string, key: string): Promise<boolean> {
  const { ProblemError } = await import('@basa/client/operator');
  const { taskIdOf } = await import('@basa/protocol');
  const { toHex } = await import('@basa/masking');
  const { nodeSuite } = await import('@basa/runtime/node');
  try {
    const line = await server.line(task);
    return toHex(taskIdOf(nodeSuite, line.policy)) === task && !(await keysInUse(line)).has(key);
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'task-unknown') return false;
    throw error;
  }
}

/** The keys of the term in force, and of all terms that follow it. */
async function keysInUse(line: Line): Promise<ReadonlySet<string>> {
  const { toHex } = await import('@basa/masking');
  const policies = await policiesOf(line);
  const begun = line.terms.filter(({ effective }) => effective <= Date.now()).length;
  const keysOf = ({ serverKey, authorities }: TaskPolicy) => [serverKey, ...authorities].map(toHex);
  return new Set(policies.slice(begun).flatMap(keysOf));
}

async function destroyFile(path: string): Promise<void> {
  const { nodeRandomBytes } = await import('@basa/runtime/node');
  const { flushNames } = await import('@basa/service/durable-names');
  try {
    const file = await open(path, 'r+');
    try {
      const { size } = await file.stat();
      await file.write(nodeRandomBytes(size), 0, size, 0);
      await file.sync();
    } finally {
      await file.close();
    }
    await unlink(path);
    flushNames(dirname(path));
  } catch (error) {
    throw new CommandError(`${path} could not be destroyed: ${(error as Error).message}`);
  }
}
