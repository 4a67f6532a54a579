/**
 * Configuration from a JSON file, environment variables and settings of the command line, checked against a schema; later sources take
 * precedence. Messages name the key. A secret is neither in the file nor on the command line: it comes from its variable, or from a file
 * that `<key>File` names.
 */
import { readFileSync } from 'node:fs';
import { type Static, type TObject, type TSchema, type TString, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { wrongConfiguration } from '../process/start-error.ts';

export interface ConfigSources {
  /** Path of a JSON file. */
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `BASA_AUTHORITY_` makes `dataFolder` the variable BASA_AUTHORITY_DATA_FOLDER. */
  readonly prefix: string;
  /** `key=value`, as a command line gives them; values are written as in variables. */
  readonly settings?: readonly string[] | undefined;
  /** Values that the program which starts the service sets itself. */
  readonly overrides?: Readonly<Record<string, unknown>>;
}

/** A configuration, and for each key with a value its source in words. */
export interface GatheredConfig<Config> {
  readonly config: Config;
  readonly from: Readonly<Record<string, string>>;
  /** The files that secrets were read from, by the key that names them. */
  readonly secretFiles: Readonly<Record<string, string>>;
}

type Values = Record<string, unknown>;
type Properties = Readonly<Record<string, TSchema>>;
const SECRET = 'x-secret';

/** A text that must not be in the configuration file. */
export function secretText(description: string): TString {
  return Type.String({ description, minLength: 1, [SECRET]: true });
}

function isSecret(schema: TSchema): boolean {
  return SECRET in schema;
}

export function readConfig<Schema extends TObject>(schema: Schema, sources: ConfigSources): Static<Schema> {
  return gatherConfig(schema, sources).config;
}

export function gatherConfig<Schema extends TObject>(
  schema: Schema,
  sources: ConfigSources,
): GatheredConfig<Static<Schema>> {
  const { properties } = schema as { readonly properties: Properties };
  const secrets = Object.keys(properties).filter((key) => isSecret(properties[key] as TSchema));
  const fromFile = sources.file === undefined ? {} : readFile(sources.file);
  const fromSettings = readSettings(properties, sources);
  refuseSecrets(secrets, fromFile, `be in ${sources.file}`, sources);
  refuseSecrets(secrets, fromSettings, 'be on a command line, where others can read it', sources);
  const layers: readonly (readonly [Readonly<Values>, (key: string) => string])[] = [
    [fromFile, () => sources.file ?? ''],
    [fromEnvironment(properties, secrets, sources), (key) => variableOf(sources.prefix, key)],
    [fromSettings, () => '--set'],
    [sources.overrides ?? {}, () => 'the program'],
  ];
  const given: Values = {};
  const from: Record<string, string> = {};
  for (const [values, origin] of layers)
    for (const [key, value] of Object.entries(values)) {
      given[key] = value;
      from[key] = origin(key);
    }
  const secretFiles: Record<string, string> = {};
  for (const key of secrets) readSecretFile(given, { from, secretFiles }, key);
  const config = Value.Default(schema, given) as Values;
  const checker = Compile(schema as TObject);
  if (!checker.Check(config)) throw wrongConfiguration(problemsOf(checker.Errors(config)).join('; '));
  for (const key of Object.keys(config)) from[key] ??= 'default';
  return { config: config as Static<Schema>, from, secretFiles };
}

function refuseSecrets(secrets: readonly string[], values: Values, where: string, { prefix }: ConfigSources): void {
  for (const key of secrets)
    if (key in values)
      throw wrongConfiguration(`${key} is a secret and may not ${where}; set ${variableOf(prefix, key)} or ${key}File`);
}

/** Keeps unknown keys: the schema rejects them by name. */
function readSettings(properties: Properties, { settings = [] }: ConfigSources): Values {
  return Object.fromEntries(
    settings.map((setting) => {
      const at = setting.indexOf('=');
      if (at < 1) throw wrongConfiguration(`--set takes key=value, got "${setting}"`);
      const key = setting.slice(0, at);
      return [key, parsed(properties[key], setting.slice(at + 1), key)];
    }),
  );
}

function readFile(path: string): Values {
  try {
    const parsed = parseJson(readFileSync(path, 'utf8'));
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Values;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw wrongConfiguration(`${path} does not exist; check the path, or create a configuration with \`basa init\``);
    throw wrongConfiguration(`${path} cannot be read as JSON: ${(error as Error).message}`);
  }
  throw wrongConfiguration(`${path} must contain one JSON object`);
}

function fromEnvironment(
  properties: Properties,
  secrets: readonly string[],
  { environment, prefix }: ConfigSources,
): Values {
  const keys = [...Object.keys(properties), ...secrets.map((key) => `${key}File`)];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const name = variableOf(prefix, key);
      const text = environment[name];
      return text === undefined ? [] : [[key, parsed(properties[key], text, name)]];
    }),
  );
}

export function variableOf(prefix: string, key: string): string {
  return prefix + key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Strings and enumerated words are taken literally; everything else is parsed as JSON. */
function parsed(schema: TSchema | undefined, text: string, name: string): unknown {
  const { type, anyOf = [] } = (schema ?? { type: 'string' }) as { type?: unknown; anyOf?: { const?: unknown }[] };
  if (type === 'string' || anyOf.some((choice) => choice.const === text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw wrongConfiguration(`${name} must be JSON, for example 8080, true or ["a"]`);
  }
}

/** Replaces `<key>File` with the text of the file it names, without the line end that editors leave. */
function readSecretFile(
  given: Values,
  { from, secretFiles }: Record<'from' | 'secretFiles', Record<string, string>>,
  key: string,
): void {
  const named = `${key}File`;
  const path = given[named];
  delete given[named];
  if (path === undefined || given[key] !== undefined) return;
  from[key] = `the file of ${named} (${from[named]})`;
  secretFiles[named] = String(path);
  given[key] = readNamedFile(named, String(path)).replace(/\r?\n$/, '');
}

/** The text of a file that a key of the configuration names. */
export function readNamedFile(key: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT';
    throw wrongConfiguration(
      isMissing ? `${key}: ${path} does not exist; create the file, or change its path` : `${key}: ${message}`,
    );
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
    if (keyword === 'boolean') return []; // additionalProperties reports it as well
    if (keyword === 'required') return requiredProperties.map((key) => `${at(key)} is missing`);
    if (keyword === 'additionalProperties') return additionalProperties.map((key) => `${at(key)} is not a known key`);
    return [`${at()} ${message}`];
  });
}

// The keys of a configuration for documentation, taken from its schema, so that no list can be out of date.

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

// Reads JSON that a person wrote: an error gives the line and column.

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    throw new SyntaxError(text.trim() === '' ? 'it is empty' : `${wordsOf(message)}, ${placeOf(text, message)}`);
  }
}

/** The engine's message without its own positions and without a copy of the text. */
function wordsOf(message: string): string {
  return message.replace(/ in JSON at position.*$| after JSON at position.*$|, (\.\.\.)?".*$/s, '');
}

function placeOf(text: string, message: string): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  const before = text.slice(0, position === undefined ? unexpectedAt(text) : Number(position)).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/** The engine names no position for an unexpected token: returns the end of the shortest prefix of the text that contains one. */
function unexpectedAt(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (hasUnexpected(text.slice(0, middle))) bad = middle;
    else good = middle;
  }
  return bad - 1;
}

function hasUnexpected(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return false;
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token');
  }
}
