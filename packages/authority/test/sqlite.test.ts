/** The authority on the database of a data folder. */
import { testAuthority } from './conformance/all.ts';
import { freshHome } from './homes.ts';

testAuthority(async () => freshHome());
