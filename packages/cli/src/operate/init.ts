/** `basa init`: creates a folder with the configuration, keys and tokens of one side: a server, or an authority. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import * as flag from '../shell/command.ts';
import { type Command, CommandError, type CommandInput, type CommandResult, command } from '../shell/command.ts';
import { type ServiceName, serviceOf } from './config.ts';

const PRIVATE = { mode: 0o600, flag: 'wx' } as const;
const PORTS = { server: 7800, authority: 7801 } as const;

const FLAGS = {
  host: flag.text({ value: 'name', help: 'name or address at which others reach the service', default: '127.0.0.1' }),
  port: flag.whole({ help: 'port of the service', min: 1, max: 65_535, without: 'server 7800, authority 7801' }),
  'tls-cert': flag.text({
    value: 'file',
    help: 'PEM file with the certificate; needed, with --tls-key, if --host is not this machine',
  }),
  'tls-key': flag.text({ value: 'file', help: 'PEM file with the private key of the certificate' }),
  authority: flag.text({
    value: 'url',
    help: 'server: address of the authority, or several separated by commas',
    variable: 'BASA_AUTHORITY',
  }),
  'authority-key': flag.text({
    value: 'hex',
    help: 'server: public key of the authority, or several in the order of --authority',
    variable: 'BASA_AUTHORITY_KEY',
  }),
};

export const init: Command = command({
  name: 'init',
  summary:
    'write the configuration, keys and tokens of a server, of an authority, or of both, and print the next steps',
  takes: {
    'server | authority': 'the side that you run; without it, both on this machine',
    '<folder>': 'folder for the files; it must be empty or not exist yet (default: basa-server, basa-authority)',
  },
  flags: FLAGS,
  notes: [
    'A party that runs both sides can read every update: let independent parties run them, each with its own `basa init`.',
  ],
  opening: 'creating keys',
  async run(input) {
    const { terminal } = input;
    if (input.positionals.length === 0) return initBoth(input);
    const place = await placeOf(input, serviceOf(input));
    const { said, json } = await (place.service === 'server' ? initServer(input.flags, place) : initAuthority(place));
    for (const line of [...said, ...caLines(place)]) terminal.line(line);
    return { json: { folder: place.folder, ...json } };
  },
});

interface Place {
  readonly service: ServiceName;
  readonly folder: string;
  readonly url: string;
  /** The keys of the configuration about the address. */
  readonly listen: object;
}

interface Made {
  readonly said: readonly string[];
  readonly json: Readonly<Record<string, string>>;
}

/** Both sides on one machine, each in its own folder: to try them out, or to move one of them away later. */
async function initBoth(input: CommandInput<typeof FLAGS>): Promise<CommandResult> {
  const { flags, terminal } = input;
  const { BASA_AUTHORITY: variable, BASA_AUTHORITY_KEY: key } = input.environment;
  if (flags.port !== undefined || flags.authority !== variable || flags['authority-key'] !== key)
    throw new CommandError(
      '--port, --authority and --authority-key are of one side; name it: `basa init server` or `basa init authority`',
    );
  const [theirs, ours] = [await placeOf(input, 'authority'), await placeOf(input, 'server')];
  for (const { folder } of [theirs, ours]) await makeFolder(folder);
  const authority = await initAuthority(theirs);
  const { authority: url = '', authorityKey = '' } = authority.json;
  const server = await initServer({ authority: url, 'authority-key': authorityKey }, ours);
  const [tasks, owner] = ['tasks', 'owner'].map((name) => join(theirs.folder, `${name}.token`));
  for (const line of [
    `wrote an authority into ${theirs.folder}, and a server into ${ours.folder}`,
    '',
    'Start each in a terminal of its own:',
    `  \`basa authority --config ${join(theirs.folder, 'authority.json')}\``,
    `  \`basa server --config ${join(ours.folder, 'server.json')}\``,
    '',
    'In another terminal, create a task, and let three devices in:',
    `  export BASA_SERVER=${server.json['server']} BASA_AUTHORITY=${url} BASA_AUTHORITY_KEY=${authorityKey}`,
    `  export BASA_OPERATOR_TOKEN=$(cat ${join(ours.folder, 'operator.token')})`,
    `  export BASA_AUTHORITY_TOKEN=$(cat ${tasks})`,
    '  `basa task create --name first --buffer 3`',
    '  `basa keys make --count 3`',
    `  export BASA_AUTHORITY_TOKEN=$(cat ${owner})`,
    '  `basa keys enroll --task first --hashes enrolment`',
    '',
    'Whoever holds both folders can read every update: with data of others, let independent parties run them.',
    ...caLines(ours),
  ])
    terminal.line(line);
  return { json: { folders: [theirs.folder, ours.folder], ...server.json } };
}

type AuthorityFlags = Pick<CommandInput<typeof FLAGS>['flags'], 'authority' | 'authority-key'>;

async function initServer(flags: AuthorityFlags, { folder, url, listen }: Place): Promise<Made> {
  const { authority: authorityUrl, 'authority-key': authorityKey } = flags;
  if (authorityUrl === undefined || authorityKey === undefined)
    throw new CommandError(
      'a server needs --authority and --authority-key; the owner of the authority runs `basa init authority`, which prints both',
    );
  await makeFolder(folder);
  const operators = [await newToken(folder, 'operator', ['operator', 'auditor'])];
  const config = { ...listen, dataFolder: join(folder, 'server-data'), authorityUrl, authorityKey, operators };
  await writeConfig(folder, 'server', config);
  return {
    said: [
      `wrote server.json and operator.token into ${folder}`,
      '',
      'Start the server:',
      `  \`basa server --config ${join(folder, 'server.json')}\``,
      '',
      "In another terminal, with the token for tasks of each authority's owner:",
      `  export BASA_SERVER=${url} BASA_AUTHORITY=${authorityUrl} BASA_AUTHORITY_KEY=${authorityKey}`,
      `  export BASA_OPERATOR_TOKEN=$(cat ${join(folder, 'operator.token')}) BASA_AUTHORITY_TOKEN=<the token for tasks>`,
      '  `basa task create --name first --buffer 3` prints the 64 digits of the task, which owners and devices need',
      '',
      'Never hand out operator.token or server-data. Never take an owner.token: who holds it and the server can let in devices of',
      'its own beside a victim. The owner of each authority lets devices in.',
    ],
    json: { server: url, authority: authorityUrl, authorityKey },
  };
}

async function initAuthority({ folder, url, listen }: Place): Promise<Made> {
  await makeFolder(folder);
  const { toHex } = await import('@basa/masking');
  const { nodeRandomBytes } = await import('@basa/runtime/node');
  const keyFile = join(folder, 'authority.key');
  const dataFolder = join(folder, 'authority-data');
  await writeFile(keyFile, nodeRandomBytes(32), PRIVATE);
  const { createAuthority } = await import('@basa/authority');
  // The authority makes its signing key at its first start.
  const made = await createAuthority({ dataFolder, secret: { keyFile } });
  await made.close();
  const authorityKey = toHex(made.publicKey);
  const operators = [
    await newToken(folder, 'tasks', ['tasks']),
    await newToken(folder, 'owner', ['enrol', 'revoke', 'admin']),
  ];
  await writeConfig(folder, 'authority', { ...listen, dataFolder, keyFile, operators });
  return {
    said: [
      `wrote authority.json, authority.key, owner.token and tasks.token into ${folder}`,
      '',
      'Start the authority:',
      `  \`basa authority --config ${join(folder, 'authority.json')}\``,
      '',
      'Publish the address and the public key:',
      `  export BASA_AUTHORITY=${url} BASA_AUTHORITY_KEY=${authorityKey}`,
      `Give the operator of the task tasks.token: it creates tasks, and can do nothing else.`,
      '',
      'Never hand out owner.token, authority.key or authority-data, to nobody, and least of all to the operator of the server: who',
      'holds owner.token decides which devices are in a sum. You let devices in yourself:',
      `  export BASA_AUTHORITY_TOKEN=$(cat ${join(folder, 'owner.token')})`,
      '  `basa keys enroll --task <task> --hashes <the file that the application sends you>`',
      '  `basa device list` lists them',
      '',
      'Back up authority.key separately from authority-data: without this key, nobody can read the data of the authority.',
    ],
    json: { authority: url, authorityKey },
  };
}

async function placeOf(input: CommandInput<typeof FLAGS>, service: ServiceName): Promise<Place> {
  const { Network } = await import('@basa/protocol/http');
  const { flags, positionals } = input;
  const folder = resolve(positionals[1] ?? `basa-${service}`);
  const host = flags.host.replace(/^\[(.*)\]$/, '$1');
  const [cert, key] = [flags['tls-cert'], flags['tls-key']];
  if ((cert === undefined) !== (key === undefined))
    throw new CommandError('--tls-cert and --tls-key need each other; give both or neither');
  if (cert === undefined && !Network.isLoopback(host))
    throw new CommandError(
      `devices would send their keys to ${host} over plain http, which others on the network can read; add --tls-cert and --tls-key`,
    );
  const tls = cert === undefined || key === undefined ? {} : { tlsCertFile: resolve(cert), tlsKeyFile: resolve(key) };
  for (const file of Object.values(tls))
    if (!existsSync(file)) throw new CommandError(`${file} does not exist; give the full path of the PEM file`);
  const port = flags.port ?? PORTS[service];
  const named = isIPv6(host) ? `[${host}]` : host;
  return {
    service,
    folder,
    url: `${cert === undefined ? 'http' : 'https'}://${named}:${port}`,
    listen: { ...(Network.isLoopback(host) ? { host } : { host: '0.0.0.0', hosts: [host] }), port, ...tls },
  };
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new CommandError(`${folder} is not empty; name a folder that is empty or does not exist yet`);
}

/** Writes a token into a file of its own. Returns the entry of the configuration, which has only its hash. */
async function newToken(folder: string, name: string, roles: readonly string[]): Promise<object> {
  const { hashOfToken } = await import('@basa/client/operator');
  const { toHex } = await import('@basa/masking');
  const { nodeRandomBytes, nodeSuite } = await import('@basa/runtime/node');
  const token = toHex(nodeRandomBytes(16));
  await writeFile(join(folder, `${name}.token`), `${token}\n`, PRIVATE);
  return { tokenHash: hashOfToken((bytes) => nodeSuite.sha256(bytes), token), roles };
}

function writeConfig(folder: string, name: string, config: object): Promise<void> {
  return writeFile(join(folder, `${name}.json`), `${JSON.stringify(config, null, 2)}\n`, PRIVATE);
}

function caLines({ url }: Place): readonly string[] {
  if (!url.startsWith('https:')) return [];
  return [
    '',
    'If the certificate is not signed by a public CA, set NODE_EXTRA_CA_CERTS to the PEM file of its CA in the terminal of the',
    'server and on every device and operator machine.',
  ];
}
