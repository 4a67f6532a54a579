/** What a program of the repository says where the machine lacks something: one sentence with what to do, and no stack. */

export class MissingError extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'MissingError';
  }
}

/** Runs a program to its end; code 2 where something is missing, and with `--json` the sentence as the last line. */
export async function sayingWhatIsMissing(program: () => Promise<unknown>): Promise<void> {
  try {
    await program();
  } catch (error) {
    if (!(error instanceof MissingError)) throw error;
    console.error(error.message);
    if (process.argv.includes('--json')) console.log(JSON.stringify({ error: error.message, exitCode: 2 }));
    process.exit(2); // also where services are up already
  }
}
