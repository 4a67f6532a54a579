/** The files of deploy/ cannot be run everywhere; what can be held against the code is. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { authorityConfigSchema } from '@basa/authority/internal/process/config.ts';
import { COMMANDS } from '@basa/cli/internal/basa.ts';
import { serverConfigSchema } from '@basa/server/internal/process/config.ts';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const text = (path: string): string => readFileSync(`${root}deploy/${path}`, 'utf8');

/** Every variable a service knows: keys, and the files of secrets. */
const KNOWN = new Set(
  [
    { prefix: 'BASA_SERVER_', properties: serverConfigSchema.properties },
    { prefix: 'BASA_AUTHORITY_', properties: authorityConfigSchema.properties },
  ].flatMap(({ prefix, properties }) =>
    Object.keys(properties).flatMap((key) => {
      const name = prefix + key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
      return [name, `${name}_FILE`];
    }),
  ),
);

interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: { readonly spec: PodSpec } };
}

function isCommand(words: readonly string[]): boolean {
  return COMMANDS.some(({ name }) => words.join(' ').startsWith(name));
}

describe.each(['compose.yaml', 'compose.nodes.yaml'])('deploy/%s', (file) => {
  const { services } = parse(text(file), { merge: true }) as { services: Record<string, ComposeService> };
  const own = Object.entries(services).filter(([, { image }]) => image === 'basa');

  it('names variables and commands that exist', () => {
    expect(own.length).toBeGreaterThan(3);
    const variables = own.flatMap(([, { environment = {} }]) => Object.keys(environment));
    expect(variables.filter((name) => /^BASA_(SERVER|AUTHORITY)_/.test(name) && !KNOWN.has(name))).toEqual(
      variables.filter((name) => name === 'BASA_AUTHORITY_KEY' && !KNOWN.has(name)), // the pin of a device
    );
    expect(own.filter(([, { command = [] }]) => !isCommand(command)).map(([name]) => name)).toEqual([]);
  });

  it('lets each service be asked for by the names that the others know it by', () => {
    const environments = Object.values(services).map(({ environment = {} }) => environment);
    const hostsOf = (variable: string) =>
      new Set(environments.flatMap((all) => JSON.parse(all[variable] ?? '[]') as string[]));
    const named = { '7800': hostsOf('BASA_SERVER_HOSTS'), '7801': hostsOf('BASA_AUTHORITY_HOSTS') };
    const asked = environments
      .flatMap((all) => Object.values(all))
      .flatMap((value) => [...String(value).matchAll(/^http:\/\/([a-z0-9-]+):(7800|7801)$/g)]);
    expect(asked.length).toBeGreaterThan(0);
    for (const [, host = '', port] of asked) expect(named[port as '7800' | '7801']).toContain(host);
  });

  it('gives no privileges, and probes the addresses that answer', () => {
    expect(own.filter(([, service]) => service.read_only !== true || !service.cap_drop?.includes('ALL'))).toEqual([]);
    for (const [, { healthcheck }] of own)
      if (healthcheck !== undefined) expect(healthcheck.test.at(-1)).toMatch(/\/(readyz|healthz|v1\/health)$/);
  });
});

describe.each(readdirSync(`${root}deploy/kubernetes`))('deploy/kubernetes/%s', (file) => {
  const manifests = parseAllDocuments(text(`kubernetes/${file}`)).map((document) => document.toJS() as Manifest);
  const pods = manifests.flatMap(({ spec }) => spec?.template?.spec ?? []);

  it('names variables and commands that exist', () => {
    const variables = manifests.flatMap(({ data = {} }) => Object.keys(data));
    expect(variables.length).toBeGreaterThan(3);
    expect(variables.filter((name) => !KNOWN.has(name))).toEqual([]);
    expect(pods.flatMap(({ containers }) => containers.filter(({ args = [] }) => !isCommand(args)))).toEqual([]);
  });

  it('runs as an ordinary user on a file system that cannot be written', () => {
    expect(pods.length).toBe(1);
    for (const { containers, securityContext } of pods) {
      expect(securityContext?.runAsNonRoot).toBe(true);
      for (const { securityContext: own } of containers)
        expect(own).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    }
  });
});

it.each(readdirSync(`${root}deploy/systemd`))('deploy/systemd/%s names variables and a command that exist', (file) => {
  const unit = text(`systemd/${file}`);
  const variables = [...unit.matchAll(/^Environment=(BASA_[A-Z_]+)=/gm)].map(([, name = '']) => name);
  expect(variables.filter((name) => !KNOWN.has(name))).toEqual([]);
  const [, words = ''] = /^ExecStart=\S+\/basa (.*)$/m.exec(unit) ?? [];
  expect(isCommand(words.split(' '))).toBe(true);
});

it('systemd, if installed, accepts the units and finds a deliberate mistake', () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-units-'));
  /** With a program that is here in place of ours. */
  const verify = (change: (unit: string) => string) => {
    const files = readdirSync(`${root}deploy/systemd`).map((file) => join(folder, file));
    for (const file of files) {
      const unit = text(`systemd/${basename(file)}`).replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
      writeFileSync(file, change(unit));
    }
    return spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
  };
  try {
    const { error, status, stderr } = verify((unit) => unit);
    if (error !== undefined) return console.log('systemd-analyze is not here, so the units were only read');
    expect([status, stderr]).toEqual([0, '']);
    expect(verify((unit) => unit.replace('ProtectHome=', 'ProtectHouse=')).stderr).toContain('ProtectHouse');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the image copies existing files, and its last stage runs as an ordinary user without a shell', () => {
  const lines = text('Dockerfile').split('\n');
  const copied = lines
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
    .flatMap((line) => line.split(' ').slice(1, -1));
  expect(copied.length).toBeGreaterThan(5);
  expect(copied.filter((path) => !existsSync(root + path))).toEqual([]);
  const last = lines.slice(lines.map((line) => line.startsWith('FROM ')).lastIndexOf(true));
  expect(last).toContain('USER 1000:1000');
  expect(last.filter((line) => line.startsWith('RUN '))).toEqual([]); // the stage has no shell to run it
  for (const line of last.filter((one) => /^(ENTRYPOINT|CMD) /.test(one)))
    expect(JSON.parse(line.slice(line.indexOf(' ')))).toBeInstanceOf(Array); // other forms need a shell
});
