/** Errors for unusable data: they name the file, the place in it, and the problem. */

export class DataError extends Error {
  readonly file: string;
  /** A byte offset, or the place as its format counts it (`line 7`, `user_data.f01.x[3]`). */
  readonly place: number | string;

  constructor(file: string, place: number | string, problem: string) {
    super(`${file}: at ${typeof place === 'number' ? `byte ${place}` : place}: ${problem}`);
    this.name = 'DataError';
    this.file = file;
    this.place = place;
  }
}

/** Returns the label of an example; throws a DataError if there is no such class. */
export function checkLabel(label: number, classes: number, file: string, place: number | string): number {
  if (!Number.isInteger(label) || label < 0 || label >= classes) {
    throw new DataError(file, place, `label ${label} is not a class from 0 to ${classes - 1}`);
  }
  return label;
}
