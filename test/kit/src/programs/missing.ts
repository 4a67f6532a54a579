/** Reports a missing tool of the machine or a wrong option of a repository program: one sentence with what to do, and no stack. */

export class MissingError extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'MissingError';
  }
}

/** Runs a program to its end; exit code 2 if something is missing or wrong, and with `--json` the sentence as the last line. */
export async function sayingWhatIsMissing(program: () => Promise<unknown>): Promise<void> {
  try {
    await program();
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    console.error(sentence);
    if (process.argv.includes('--json')) console.log(JSON.stringify({ error: sentence, exitCode: 2 }));
    process.exit(2); // even if services are already running
  }
}

function sentenceOf(error: unknown): string | undefined {
  if (error instanceof MissingError) return error.message;
  if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')))
    return undefined;
  // The first sentence names the error; the rest is about words after `--`.
  return `${error.message.split('. ')[0]}; --help lists the options`;
}
