/** The keys of a configuration for documentation, taken from its schema, so that no list can be out of date. */
import type { TObject, TSchema } from 'typebox';
import { isSecret, variableOf } from './config.ts';

export interface ConfigKey {
  readonly key: string;
  readonly variable: string;
  readonly description: string;
  /** Comes from its variable, or from the file that `<key>File` names. */
  readonly isSecret: boolean;
  /** Required: the key has no default, and the service does not start without it. */
  readonly isNeeded: boolean;
  /** Undefined if there is no default. */
  readonly fallback: unknown;
  /** An example value of a key without a default. */
  readonly example: unknown;
}

interface Annotated {
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

export function configKeys(schema: TObject, prefix: string): readonly ConfigKey[] {
  const { properties, required = [] } = schema as {
    readonly properties: Readonly<Record<string, TSchema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([key, property]) => {
    const { description = '', default: fallback, examples = [] } = property as Annotated;
    return {
      key,
      variable: variableOf(prefix, key),
      description,
      isSecret: isSecret(property),
      isNeeded: required.includes(key) && fallback === undefined,
      fallback,
      example: examples[0],
    };
  });
}

/** Returns a file to begin with: every key that has a default or an example, and no secret. */
export function exampleConfig(keys: readonly ConfigKey[]): Record<string, unknown> {
  const open = keys.filter(({ isSecret: hidden }) => !hidden);
  return Object.fromEntries(open.map(({ key, fallback, example }) => [key, fallback ?? example]));
}
