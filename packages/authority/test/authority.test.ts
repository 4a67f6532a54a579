/** The suites that an authority passes over HTTP. */
import { testAuthority } from './conformance/all.ts';
import { freshHome } from './homes.ts';

testAuthority(async () => freshHome());
