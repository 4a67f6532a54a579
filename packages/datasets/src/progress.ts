/** The progress of a download on standard error: a bar on a terminal, two lines otherwise. */

export interface Progress {
  update(doneBytes: number): void;
  end(): void;
}

export type StartProgress = (title: string, totalBytes: number) => Progress;

const BAR_COLUMNS = 30;

export const showProgress: StartProgress = (title, totalBytes) => {
  const { stderr } = process;
  if (!stderr.isTTY) stderr.write(`${title}: ${megabytes(totalBytes)} ...\n`);
  const draw = (done: number): void => {
    const share = Math.min(1, done / totalBytes);
    const bar = '#'.repeat(Math.round(share * BAR_COLUMNS)).padEnd(BAR_COLUMNS, '.');
    stderr.write(`\r${title} [${bar}] ${Math.floor(100 * share)} % of ${megabytes(totalBytes)}`);
  };
  return {
    update: (done) => {
      if (stderr.isTTY) draw(done);
    },
    end: () => {
      if (stderr.isTTY) draw(totalBytes);
      stderr.write(stderr.isTTY ? '\n' : `${title}: done\n`);
    },
  };
};

export const noProgress: StartProgress = () => ({ update: () => undefined, end: () => undefined });

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
