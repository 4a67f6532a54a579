/** `basa init`: creates a folder with the configurations, keys and operator token that both services need to start. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { type Command, CommandError, type CommandInput, command } from '../shell/command.ts';
import { text, whole } from '../shell/flag.ts';

const PRIVATE = { mode: 0o600, flag: 'wx' } as const;

const port = (help: string, usual: number) => whole({ help, min: 1, max: 65_535, default: usual });
const FLAGS = {
  host: text({
    value: 'name',
    help: 'name or address at which devices reach both services',
    default: '127.0.0.1',
  }),
  'server-port': port('port of the server', 7800),
  'authority-port': port('port of the authority', 7801),
  'tls-cert': text({
    value: 'file',
    help: 'PEM file with the certificate; needed, with --tls-key, if --host is not this machine',
  }),
  'tls-key': text({ value: 'file', help: 'PEM file with the private key of the certificate' }),
};

export const init: Command = command({
  name: 'init',
  summary: 'write configurations, keys and operator tokens for both services, and print the next steps',
  takes: { '<folder>': 'folder for the files; it must be empty or not exist yet (default: basa)' },
  flags: FLAGS,
  notes: [
    'Run both services yourself only to try things out: an operator of both can read every update. If the data belong to others, let an independent party run the authority with authority.json, authority.key and authority-data.',
  ],
  opening: 'creating keys',
  async run(input) {
    const { terminal } = input;
    const places = await placesOf(input);
    const { folder, server, authority } = places;
    await makeFolder(folder);
    const { hashOfToken } = await import('@basa/client/operator');
    const { toHex } = await import('@basa/masking');
    const { nodeRandomBytes, nodeSuite } = await import('@basa/runtime/node');
    // One for each service: with the token of the authority, the server could enrol devices.
    const newOperators = async (service: string): Promise<readonly object[]> => {
      const token = toHex(nodeRandomBytes(16));
      await writeFile(join(folder, `${service}.token`), `${token}\n`, PRIVATE);
      return [{ tokenHash: hashOfToken((bytes) => nodeSuite.sha256(bytes), token), roles: ['operator', 'auditor'] }];
    };
    const keyFile = join(folder, 'authority.key');
    const dataFolder = join(folder, 'authority-data');
    await writeFile(keyFile, nodeRandomBytes(32), PRIVATE);
    const { createAuthority } = await import('@basa/authority');
    // The authority makes its signing key at its first start.
    const made = await createAuthority({ dataFolder, secret: { keyFile } });
    await made.close();
    const authorityKey = toHex(made.publicKey);
    await writeConfig(folder, 'authority', {
      ...authority,
      dataFolder,
      keyFile,
      operators: await newOperators('authority'),
    });
    const authorityUrl = places.authorityUrl;
    await writeConfig(folder, 'server', {
      ...server,
      dataFolder: join(folder, 'server-data'),
      authorityUrl,
      authorityKey,
      operators: await newOperators('server'),
    });
    for (const line of nextSteps(places, authorityKey)) terminal.line(line);
    return { json: { folder, server: places.serverUrl, authority: authorityUrl, authorityKey } };
  },
});

interface InitPlaces {
  readonly folder: string;
  readonly serverUrl: string;
  readonly authorityUrl: string;
  /** The address of each service. */
  readonly server: object;
  readonly authority: object;
}

async function placesOf({ flags, positionals }: CommandInput<typeof FLAGS>): Promise<InitPlaces> {
  const { isLoopback } = await import('@basa/protocol');
  const folder = resolve(positionals[0] ?? 'basa');
  const host = flags.host.replace(/^\[(.*)\]$/, '$1');
  const [cert, key] = [flags['tls-cert'], flags['tls-key']];
  if ((cert === undefined) !== (key === undefined))
    throw new CommandError('--tls-cert and --tls-key need each other; give both or neither');
  if (cert === undefined && !isLoopback(host))
    throw new CommandError(
      `devices would send their keys to ${host} over plain http, which others on the network can read; add --tls-cert and --tls-key`,
    );
  const tls = cert === undefined || key === undefined ? {} : { tlsCertFile: resolve(cert), tlsKeyFile: resolve(key) };
  const listen = (at: number): object => ({
    ...(isLoopback(host) ? { host } : { host: '0.0.0.0', hosts: [host] }),
    port: at,
    ...tls,
  });
  const { 'server-port': serverPort, 'authority-port': authorityPort } = flags;
  const named = isIPv6(host) ? `[${host}]` : host;
  const url = (at: number): string => `${cert === undefined ? 'http' : 'https'}://${named}:${at}`;
  return {
    folder,
    serverUrl: url(serverPort),
    authorityUrl: url(authorityPort),
    server: listen(serverPort),
    authority: listen(authorityPort),
  };
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new CommandError(`${folder} is not empty; name a folder that is empty or does not exist yet`);
}

function writeConfig(folder: string, name: string, config: object): Promise<void> {
  return writeFile(join(folder, `${name}.json`), `${JSON.stringify(config, null, 2)}\n`, PRIVATE);
}

function nextSteps({ folder, serverUrl, authorityUrl }: InitPlaces, authorityKey: string): readonly string[] {
  return [
    `wrote authority.json, authority.key, authority.token, server.json and server.token into ${folder}`,
    '',
    'Start the authority, then the server, each in its own terminal:',
    `  \`basa authority --config ${join(folder, 'authority.json')}\``,
    `  \`basa server --config ${join(folder, 'server.json')}\``,
    '',
    'In a third terminal, as the operator:',
    `  export BASA_SERVER=${serverUrl} BASA_AUTHORITY=${authorityUrl}`,
    `  export BASA_AUTHORITY_KEY=${authorityKey}`,
    `  export BASA_OPERATOR_TOKEN=$(cat ${join(folder, 'server.token')})`,
    `  export BASA_AUTHORITY_TOKEN=$(cat ${join(folder, 'authority.token')})`,
    '  `basa task create --name first --buffer 3` prints the 64 digits of the task, which devices need',
    '  `basa keys enroll --task first --count 3` prints a token for each device',
    '',
    'On each device, set BASA_SERVER, BASA_AUTHORITY and BASA_AUTHORITY_KEY as above, then run:',
    '  `basa client --identity my-device --task <the 64 digits> --enrol <token>`',
    '',
    ...(serverUrl.startsWith('https:')
      ? [
          'If the certificate is not signed by a public CA, set NODE_EXTRA_CA_CERTS to the PEM file of its CA in the terminal of the',
          'server and on every device and operator machine.',
          '',
        ]
      : []),
    'Back up authority.key separately from authority-data: without this key, nobody can read the data of the authority.',
  ];
}
