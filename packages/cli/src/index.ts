/** The command line of BASA as a library: what `npm start` and the tests call. */
export { runCli } from './basa.ts';
