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
  yes: yes('confirm the destruction; the key cannot be recovered'),
  ...SERVER_FLAGS,
};

interface OldKey {
  readonly file: string;
  readonly publicKey: Uint8Array;
}

export const successionDestroy: Command = command({
  name: 'succession destroy',
  summary: 'overwrite and remove the old key of a service that another key has replaced',
  takes: { 'server | authority': 'the service whose old key is destroyed' },
  flags: FLAGS,
  notes: [
    'For the server, --key is the file with the old key. For an authority, --config is its configuration; stop it on all its nodes first. Its key file is destroyed, and its data folder can no longer be opened.',
    'The command refuses if a task of the server that is not finished uses the key, now or in a term that is published. If an authority has tasks on several servers, use --dry-run with each of them first.',
    'Copies and backups of the file remain, and so may old blocks on SSDs and on file systems that copy on write. Destroy them as well.',
  ],
  async run(input) {
    const server = await serverOperator(input);
    const { file, publicKey } = serviceOf(input) === 'server' ? await serverKey(input) : await authorityKey(input);
    const { toHex } = await import('@basa/masking');
    const key = toHex(publicKey);
    await refuseIfUsed(server, key);
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
  return { file, publicKey: createNodeSigner(await keyIn(file, 'key')).publicKey };
}

async function authorityKey(input: CommandInput<typeof FLAGS>): Promise<OldKey> {
  const { sealingKeyOf } = await import('@basa/authority');
  const { keyFile: file, publicKey } = await sealingKeyOf(placesOf(input));
  return { file, publicKey };
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
