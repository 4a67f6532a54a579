/** The authority on PostgreSQL, as one node. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, migrateAuthority, readAuthorityConfig } from '../src/index.ts';
import { testAuthority } from './conformance/all.ts';
import { authorityPostgres, freshHome } from './homes.ts';

let postgres: Awaited<ReturnType<typeof authorityPostgres>>;
beforeAll(async () => {
  postgres = await authorityPostgres();
});
afterAll(() => postgres?.remove());

testAuthority(() => postgres.freshHome());

describe('a configuration with a database', () => {
  const environment = (databaseUrl: string) => ({
    BASA_AUTHORITY_DATABASE_URL: databaseUrl,
    BASA_AUTHORITY_KEY_FILE: freshHome().keyFile,
    BASA_AUTHORITY_PORT: '0',
  });

  it('needs a place for the witness, and no data folder', async () => {
    const given = environment(await postgres.database('configured'));
    await expect(createAuthority(readAuthorityConfig({ environment: given }))).rejects.toMatchObject({
      reason: 'configuration',
      message: expect.stringContaining('witnessFile is missing'),
    });
  });

  it('must be migrated first, and the message does not show the address; then it starts, and migrating again changes nothing', async () => {
    const given = environment(await postgres.database('unmade'));
    const witness = join(freshHome().root, 'witness');
    const places = { environment: { ...given, BASA_AUTHORITY_WITNESS_FILE: witness } };
    const options = readAuthorityConfig(places);
    const refusal = await createAuthority(options).catch((error: Error) => error);
    expect(refusal).toMatchObject({ reason: 'dataFolder', message: expect.stringContaining('basa migrate authority') });
    expect((refusal as Error).message).not.toContain('postgres://');
    expect(await migrateAuthority(places)).toMatchObject({ from: 0, to: 20 });
    expect(await migrateAuthority(places)).toMatchObject({ from: 20, to: 20 });
    const authority = await createAuthority(options);
    expect((await fetch(`${authority.url}/v1/health`)).status).toBe(200);
    await authority.close();
    const { BASA_AUTHORITY_DATABASE_URL: _, ...neither } = given;
    await expect(migrateAuthority({ environment: neither })).rejects.toThrow(
      'neither dataFolder nor databaseUrl is set',
    );
  });
});
