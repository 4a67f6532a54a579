/** The authority on PostgreSQL, as one node. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, createAuthorityTables, readAuthorityConfig } from '../src/index.ts';
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

  it('gets its tables from an operator or at the first start, and the operator may repeat it', async () => {
    const given = environment(await postgres.database('unmade'));
    const witness = join(freshHome().root, 'witness');
    const places = { environment: { ...given, BASA_AUTHORITY_WITNESS_FILE: witness } };
    const options = readAuthorityConfig(places);
    await createAuthorityTables(places);
    await createAuthorityTables(places);
    const authority = await createAuthority(options);
    expect((await fetch(`${authority.url}/v1/health`)).status).toBe(200);
    await authority.close();
    const { BASA_AUTHORITY_DATABASE_URL: _, ...neither } = given;
    await expect(createAuthorityTables({ environment: neither })).rejects.toThrow(
      'neither dataFolder nor databaseUrl is set',
    );
  });
});
