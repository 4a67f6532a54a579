/** One after the other: what is given to it begins when all that was given before has come to its end, good or bad. */

export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function turns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}
