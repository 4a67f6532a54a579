/** Scores of a model on examples: numbers by which people compare versions; larger is better. */

/** The loss, the number of examples, and scores by their names. A trainer of your own may name any scores. */
export interface Evaluation {
  readonly loss: number;
  readonly samples: number;
  /** For classes: the share of examples that are classified correctly. */
  readonly accuracy?: number;
  /** For numbers: the share of their variance that the model explains; below 0 if their mean would be closer. */
  readonly r2?: number;
  readonly [score: string]: number | undefined;
}

export interface Score {
  readonly name: string;
  readonly value: number;
}

/** The first score that an evaluation names. */
export function scoreOf({ loss: _, samples: __, ...scores }: Evaluation): Score | undefined {
  for (const [name, value] of Object.entries(scores)) if (value !== undefined) return { name, value };
  return undefined;
}

/** Formats a score for people: the share of a whole in percent, any other number with three digits. */
export function scoreText({ name, value }: Score): string {
  return name === 'accuracy' ? `${(100 * value).toFixed(2)} %` : String(Number(value.toPrecision(3)));
}

export interface Judge {
  add(outputs: Float32Array | Float64Array, label: number): void;
  scores(): Readonly<Record<string, number>>;
}

export function judgeClasses(classOf: (outputs: Float32Array | Float64Array) => number): Judge {
  let [right, count] = [0, 0];
  return {
    add(outputs, label) {
      count++;
      if (classOf(outputs) === label) right++;
    },
    scores: () => ({ accuracy: right / count }),
  };
}

/** Sums are taken around the first label, so that large labels with a small spread lose no digits. */
export function judgeNumbers(): Judge {
  let [count, first, sum, squares, errors] = [0, 0, 0, 0, 0];
  return {
    add(outputs, label) {
      if (count++ === 0) first = label;
      sum += label - first;
      squares += (label - first) ** 2;
      errors += ((outputs[0] as number) - label) ** 2;
    },
    scores() {
      const spread = squares - sum ** 2 / count;
      return { r2: spread > 0 ? 1 - errors / spread : Number(errors === 0) };
    },
  };
}
