/** The command line of BASA as a library, for `npm start` and the tests. */
export { runCli } from './basa.ts';
