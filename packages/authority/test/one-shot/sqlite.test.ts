/** The one-shot mode of an authority on the database of a data folder. */
import { testShots } from '../conformance/shots.ts';
import { freshHome } from '../homes.ts';

testShots(async () => freshHome());
