/**
 * Configuration from a JSON file, environment variables and overrides, later ones first, held to a schema. Messages name the
 * key. A secret never stands in the file: it comes from its variable, or from a file that `<key>File` names.
 */
import { readFileSync } from 'node:fs';
import type { Static, TObject, TSchema, TString } from 'typebox';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { StartError } from './start-error.ts';

export interface ConfigSources {
  /** Path of a JSON file. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `BASA_AUTHORITY_` makes `dataFolder` the variable BASA_AUTHORITY_DATA_FOLDER. */
  readonly prefix: string;
  readonly overrides?: Readonly<Record<string, unknown>>;
}

type Values = Record<string, unknown>;
const SECRET = 'x-secret';

/** A text that may not stand in the configuration file. */
export function secretText(description: string): TString {
  return Type.String({ description, minLength: 1, [SECRET]: true });
}

export function readConfig<Schema extends TObject>(schema: Schema, sources: ConfigSources): Static<Schema> {
  const { properties } = schema as { readonly properties: Readonly<Record<string, TSchema>> };
  const secrets = Object.keys(properties).filter((key) => SECRET in (properties[key] as object));
  const fromFile = sources.file === undefined ? {} : readFile(sources.file);
  for (const key of secrets) {
    if (key in fromFile) {
      throw wrong(
        `${key} is a secret and may not stand in ${sources.file}; set ${variable(sources, key)} or ${key}File`,
      );
    }
  }
  const given: Values = { ...fromFile, ...fromEnvironment(properties, secrets, sources), ...sources.overrides };
  for (const key of secrets) readSecretFile(given, key);
  const config = Value.Default(schema, given);
  const checker = Compile(schema as TObject);
  if (!checker.Check(config)) throw wrong(problemsOf(checker.Errors(config)).join('; '));
  return config as Static<Schema>;
}

function readFile(path: string): Values {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Values;
  } catch (error) {
    throw wrong(`${path} cannot be read as JSON: ${(error as Error).message}`);
  }
  throw wrong(`${path} must hold one JSON object`);
}

function fromEnvironment(
  properties: Readonly<Record<string, TSchema>>,
  secrets: readonly string[],
  sources: ConfigSources,
): Values {
  const keys = [...Object.keys(properties), ...secrets.map((key) => `${key}File`)];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const text = sources.environment[variable(sources, key)];
      return text === undefined ? [] : [[key, parsed(properties[key], text, variable(sources, key))]];
    }),
  );
}

function variable({ prefix }: ConfigSources, key: string): string {
  return prefix + key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Text stays text, and so does one of a few words; everything else is JSON. */
function parsed(schema: TSchema | undefined, text: string, name: string): unknown {
  const { type, anyOf = [] } = (schema ?? { type: 'string' }) as { type?: unknown; anyOf?: { const?: unknown }[] };
  if (type === 'string' || anyOf.some((choice) => choice.const === text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(`${name} must be JSON, for example 8080, true or ["a"]`);
  }
}

/** `<key>File` becomes the text of the file it names, without the line end that editors leave. */
function readSecretFile(given: Values, key: string): void {
  const path = given[`${key}File`];
  delete given[`${key}File`];
  if (path === undefined || given[key] !== undefined) return;
  try {
    given[key] = readFileSync(String(path), 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw wrong(`${key}File: ${(error as Error).message}`);
  }
}

interface Problem {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

function problemsOf(problems: readonly Problem[]): readonly string[] {
  return problems.flatMap(({ keyword, instancePath, params, message }) => {
    const at = (key?: string) => [...instancePath.split('/').slice(1), ...(key === undefined ? [] : [key])].join('.');
    const { requiredProperties = [], additionalProperties = [] } = params as Record<string, string[] | undefined>;
    if (keyword === 'boolean') return []; // said by additionalProperties as well
    if (keyword === 'required') return requiredProperties.map((key) => `${at(key)} is missing`);
    if (keyword === 'additionalProperties') return additionalProperties.map((key) => `${at(key)} is not a known key`);
    return [`${at()} ${message}`];
  });
}

function wrong(sentence: string): StartError {
  return new StartError('configuration', `configuration: ${sentence}`);
}
