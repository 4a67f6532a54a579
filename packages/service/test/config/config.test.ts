/** Configuration: the sources of values, and the message for a wrong one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { gatherConfig } from '../../src/config/config.ts';
import { commonRisks, sharedTokenRisk } from '../../src/config/service-config.ts';
import { readConfig, secretText, Type } from '../../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const schema = Type.Object(
  {
    dataFolder: Type.String(),
    port: Type.Integer({ default: 8080, minimum: 0, maximum: 65_535 }),
    limits: Type.Optional(Type.Object({ burst: Type.Number() }, { additionalProperties: false })),
    level: Type.Optional(Type.Union([Type.Literal('info'), Type.Literal('warn')])),
    passphrase: Type.Optional(secretText('opens the keys')),
  },
  { additionalProperties: false },
);

function read(file: unknown, environment: Record<string, string> = {}, settings: readonly string[] = []) {
  const path = join(folder, 'config.json');
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
  return readConfig(schema, { file: path, environment, prefix: 'BASA_TEST_', settings });
}

describe('configuration', () => {
  it('comes from the file, then the environment, then the command line, and has defaults', () => {
    expect(read({ dataFolder: 'a' })).toEqual({ dataFolder: 'a', port: 8080 });
    const environment = { BASA_TEST_DATA_FOLDER: 'b', BASA_TEST_PORT: '81', BASA_TEST_LIMITS: '{"burst":2}' };
    expect(read({ dataFolder: 'a', port: 80 }, environment)).toEqual({
      dataFolder: 'b',
      port: 81,
      limits: { burst: 2 },
    });
    expect(read({ dataFolder: 'a' }, environment, ['port=82'])).toMatchObject({ dataFolder: 'b', port: 82 });
    expect(readConfig(schema, { environment, prefix: 'BASA_TEST_' }).port).toBe(81);
  });

  it('takes one of a few words from the environment without quotes', () => {
    expect(read({ dataFolder: 'a' }, { BASA_TEST_LEVEL: 'warn' })).toMatchObject({ level: 'warn' });
    expect(() => read({ dataFolder: 'a' }, { BASA_TEST_LEVEL: 'loud' })).toThrow('BASA_TEST_LEVEL');
  });

  it.each([
    ['a missing key', {}, {}, 'dataFolder is missing'],
    ['a wrong type', { dataFolder: 'a', port: '80' }, {}, 'port must be integer'],
    ['a value out of range', { dataFolder: 'a', port: 70_000 }, {}, 'port must be <= 65535'],
    ['an unknown key', { dataFolder: 'a', prot: 80 }, {}, 'prot is not a known key'],
    ['an unknown key further in', { dataFolder: 'a', limits: { burst: 1, x: 1 } }, {}, 'limits.x is not a known key'],
    ['a variable that is no JSON', { dataFolder: 'a' }, { BASA_TEST_PORT: 'eighty' }, 'BASA_TEST_PORT must be JSON'],
    ['a file that is no JSON', '{', {}, 'cannot be read as JSON'],
    ['a file that is no object', '[]', {}, 'must contain one JSON object'],
    ['a secret in the file', { dataFolder: 'a', passphrase: 'x' }, {}, 'passphrase is a secret and may not be in'],
    [
      'a secret file that is not there',
      { dataFolder: 'a', passphraseFile: '/nowhere' },
      {},
      'passphraseFile: /nowhere does not exist; create the file, or change its path',
    ],
  ])('%s is named', (_, file, environment, sentence) => {
    expect(() => read(file, environment as Record<string, string>)).toThrow(sentence);
    expect(() => read(file, environment as Record<string, string>)).toThrow(/^configuration: /);
  });

  it('says where a file comes from that is not there', () => {
    const file = join(folder, 'nowhere.json');
    expect(() => readConfig(schema, { file, environment: {}, prefix: 'BASA_TEST_' })).toThrow(
      `configuration: ${file} does not exist; check the path, or create a configuration with \`basa init\``,
    );
  });

  it('takes a secret from its variable or from a file, without the line end', () => {
    const path = join(folder, 'secret');
    writeFileSync(path, 'open sesame \n');
    expect(read({ dataFolder: 'a' }, { BASA_TEST_PASSPHRASE: 'p' }).passphrase).toBe('p');
    expect(read({ dataFolder: 'a', passphraseFile: path }).passphrase).toBe('open sesame ');
    expect(read({ dataFolder: 'a' }, { BASA_TEST_PASSPHRASE_FILE: path }).passphrase).toBe('open sesame ');
  });

  it('takes settings of a command line as text or JSON, and names one that cannot be', () => {
    expect(read({ dataFolder: 'a' }, {}, ['dataFolder=b=c', 'limits={"burst":3}', 'level=warn'])).toEqual({
      dataFolder: 'b=c',
      port: 8080,
      limits: { burst: 3 },
      level: 'warn',
    });
    expect(() => read({ dataFolder: 'a' }, {}, ['port'])).toThrow('--set takes key=value, got "port"');
    expect(() => read({ dataFolder: 'a' }, {}, ['prot=1'])).toThrow('prot is not a known key');
    expect(() => read({ dataFolder: 'a' }, {}, ['passphrase=x'])).toThrow('may not be on a command line');
  });

  it('says where each value came from', () => {
    const secret = join(folder, 'secret');
    writeFileSync(secret, 'x');
    const file = join(folder, 'config.json');
    writeFileSync(file, JSON.stringify({ dataFolder: 'a', port: 1, passphraseFile: secret }));
    const environment = { BASA_TEST_PORT: '2', BASA_TEST_LEVEL: 'warn' };
    const sources = { file, environment, prefix: 'BASA_TEST_', settings: ['level=info'] };
    expect(gatherConfig(schema, sources).from).toMatchObject({
      dataFolder: file,
      port: 'BASA_TEST_PORT',
      level: '--set',
      passphrase: `the file of passphraseFile (${file})`,
    });
    expect(gatherConfig(schema, { environment: { BASA_TEST_DATA_FOLDER: 'a' }, prefix: 'BASA_TEST_' }).from).toEqual({
      dataFolder: 'BASA_TEST_DATA_FOLDER',
      port: 'default',
    });
  });

  it('warns of what is allowed and seldom wise', () => {
    const config = {
      host: '0.0.0.0',
      hosts: [],
      corsOrigins: ['*'],
      operators: [],
      otlpUrl: 'http://collector.example.org',
      otlpHeaders: 'authorization=Bearer x',
      trustedProxies: 0,
      unsafePaperMode: true,
    };
    const open = join(folder, 'open');
    writeFileSync(open, 'x', { mode: 0o644 });
    const risks = commonRisks({ config, from: {}, secretFiles: { tokenFile: open } }, { keyFile: open }).join('\n');
    for (const word of [
      'without TLS',
      'hosts is empty',
      'corsOrigins',
      'operators is empty',
      'can read otlpHeaders',
      'unsafePaperMode',
      'tokenFile: ',
      `keyFile: other users can read ${open}`,
      `chmod 600 ${open}`,
    ])
      expect(risks).toContain(word);
    const otlpUrl = 'https://collector.example.org';
    const safe = { ...config, host: '127.0.0.1', corsOrigins: [], operators: [{}], otlpUrl, unsafePaperMode: false };
    const risksWith = (more: object) => commonRisks({ config: { ...safe, ...more }, from: {}, secretFiles: {} }, {});
    expect(risksWith({ otlpUrl: 'http://localhost:4318' })).toEqual([]);
    const oidcFor = (role: string) => ({ oidc: { issuer: 'https://a.example', audience: 'b', roles: { c: [role] } } });
    expect(risksWith(oidcFor('admin'))).toEqual([]);
    expect(risksWith(oidcFor('enrol'))).toEqual([
      expect.stringContaining('is shown a token for b, can let devices in'),
    ]);
    const operators = (digit: string) => JSON.stringify([{ tokenHash: digit.repeat(64), roles: ['operator'] }]);
    const tokens = (server: string, authority: string) =>
      sharedTokenRisk({
        environment: { BASA_SERVER_OPERATORS: operators(server), BASA_AUTHORITY_OPERATORS: operators(authority) },
      });
    expect(tokens('a', 'a')).toContain('the same operator token');
    expect([tokens('a', 'b'), sharedTokenRisk({ environment: {} })]).toEqual([undefined, undefined]);
  });
});
