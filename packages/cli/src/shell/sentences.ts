/** One sentence for every error: the problem and the next step. A stack is only for `--debug`. */

import { fileURLToPath } from 'node:url';
import type { ClientEvents } from '@basa/client/node';
import { CommandError, EXIT_CODE } from './command.ts';

export interface Sentence {
  readonly sentence: string;
  readonly code: number;
  /** An error that only the developers can fix. */
  readonly isFault?: true;
}

/** An error of the SDK, the data loaders or the operating system. */
interface CodedError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly exitCode?: number;
  /** The message without advice for programmers. */
  readonly happened?: string;
  /** The next step, as a sentence. */
  readonly next?: string;
}

/** By name: the SDK and the data loaders are only loaded by the commands that use them. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  ProblemError: EXIT_CODE.refused,
  UnreachableError: EXIT_CODE.refused,
  RefusedError: EXIT_CODE.refused,
  CertificateError: EXIT_CODE.refused,
  AnswerError: EXIT_CODE.refused,
  FetchError: EXIT_CODE.refused,
  StoreError: EXIT_CODE.usage,
  DataError: EXIT_CODE.usage,
  SettingsError: EXIT_CODE.usage,
};

const STORAGE_FULL = 7;
/** The folder of our packages, in a clone or in an installation. */
const HOME = fileURLToPath(new URL('../../../', import.meta.url));

export function sentenceOf(error: unknown, command: string): Sentence {
  if (!(error instanceof Error)) return fault(String(error));
  if (error instanceof CommandError) return { sentence: error.message, code: error.exitCode };
  const { name, message, code, exitCode } = error as CodedError;
  if (code?.startsWith('ERR_PARSE_ARGS') === true)
    return { sentence: `${flagSentence(message)}; see \`${command} --help\``, code: EXIT_CODE.usage };
  if (name === 'StartError' && exitCode !== undefined) return { sentence: message, code: exitCode };
  const known = EXIT_CODES[name];
  if (known !== undefined) return { sentence: personalSentence(error), code: known };
  return (
    systemSentence(error as CodedError) ??
    networkSentence(error) ??
    missingPackage(error as CodedError) ??
    ownFileSentence(error) ??
    fault(message)
  );
}

/** The messages of `parseArgs` about a flag; if it is unsure whether a flag or a value follows, the value is missing. */
function flagSentence(message: string): string {
  const [, flag] = /^Option '(?:-\w, )?(--[\w-]+)' argument is ambiguous/.exec(message) ?? [];
  if (flag === undefined) return message.split(/\n|\. To specify/)[0] ?? message;
  return `${flag} needs a value, but another flag follows it (write a value that begins with a dash as ${flag}=-value)`;
}

/** The SDK advises programmers: a person at a command line gets other advice, by the code of the error. */
function personalSentence({ message, happened = message, code, next }: CodedError): string {
  const instead = code === undefined ? undefined : INSTEAD[code];
  if (instead !== undefined) return `${happened.replace(/\.$/, '')}; ${instead}`;
  return next === undefined ? message : `${message} ${next}`;
}

/** The reason why a device waits, and the time. */
export function retrySentence({ service, why, waitMs }: ClientEvents['retry']): string {
  const said = service === 'run' ? why : `${service}: ${why}`;
  return `${said}; trying again in ${(waitMs / 1000).toFixed(1)} s`;
}

/** The messages of the operating system about a file or folder, by its code. */
const OF_FILES: Readonly<Record<string, (path: string, syscall: string) => string>> = {
  ENOENT: (path) => `${path} does not exist; check the path and its folder`,
  EISDIR: (path) => `${path} is a folder; give the path of a file`,
  ENOTDIR: (path, syscall) =>
    syscall === 'scandir'
      ? `${path} is a file; give the path of a folder`
      : `${path} cannot be used: a part of this path is a file, not a folder`,
  EEXIST: (path, syscall) =>
    syscall === 'mkdir'
      ? `${path} is a file; give the path of a folder`
      : `${path} exists already; give another path, or move it away`,
  ENOSPC: (path) => `no space is left for ${path}; free some space and try again`,
};

function systemSentence({ code = '', syscall = '', ...error }: CodedError): Sentence | undefined {
  if (error.path === undefined && code !== 'EISDIR' && code !== 'ENOSPC') return undefined; // a socket, for example
  const { path = 'a path from the command line' } = error;
  const isForbidden = ['EACCES', 'EPERM', 'EROFS'].includes(code);
  const other = isForbidden
    ? `you are not permitted to use ${path} (${code}); check its owner and permissions, or give another path`
    : `${path} cannot be used (${code}); check the path and the disk, or give another path`;
  const exitCode = code === 'ENOSPC' ? STORAGE_FULL : EXIT_CODE.usage;
  return { sentence: OF_FILES[code]?.(path, syscall) ?? other, code: exitCode };
}

/** Codes of sockets, names and TLS; the reason may be one level down. */
const OF_THE_NETWORK = /^(ECONN|EHOST|ENET|EPIPE|ETIMEDOUT|EAI_|ENOTFOUND|UND_ERR_)/;

function networkSentence({ cause, code = (cause as CodedError | undefined)?.code }: CodedError): Sentence | undefined {
  if (typeof code !== 'string' || !OF_THE_NETWORK.test(code)) return undefined;
  return {
    sentence: `the connection failed (${code}); check the address, and that the service is running`,
    code: EXIT_CODE.refused,
  };
}

function missingPackage({ code, message }: CodedError): Sentence | undefined {
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'ERR_DLOPEN_FAILED') return undefined;
  const [what = message] = message.split('\n');
  return {
    sentence: `a package that this program needs is missing, or was built for another version of Node (${what}); run \`npm install\` again`,
    code: EXIT_CODE.usage,
  };
}

/** An error from the user's own file, for example the `data` of a model.ts, is theirs to fix: gives its place. */
function ownFileSentence(error: Error): Sentence | undefined {
  const place = thrownIn(error);
  if (place === undefined || /[\\/]node_modules[\\/]/.test(place) || place.startsWith(HOME)) return undefined;
  return {
    sentence: `${error.message} (${place}); fix it in that file, or run the command again with --debug to see the whole stack`,
    code: EXIT_CODE.usage,
  };
}

function fault(message: string): Sentence {
  return {
    sentence: `${message}. This is a bug in BASA: run the command again with --debug, and report the output`,
    code: EXIT_CODE.failed,
    isFault: true,
  };
}

/** The advice for people at a command line, in place of the SDK's advice for programmers: by the code of the error. */
const INSTEAD: Readonly<Record<string, string>> = {
  unreachable: 'check the address and the network, then run the same command again; it continues where it stopped',
  'certificate-not-trusted': 'check the address, or set the variable NODE_EXTRA_CA_CERTS to the PEM file of its CA',
  'wrong-authority': 'check --authority and --authority-key (BASA_AUTHORITY, BASA_AUTHORITY_KEY)',
  'store-of-another-task': 'choose another folder with --identity',
  'task-exists': 'use exactly the earlier settings, or choose another name with --name',
  'plain-http': 'use https, or add --unsafe-plain-http if you control the network in between',
  'below-floor':
    'ask for less with --minimum, --max-staleness or --max-epsilon, or take part in a task that meets them',
};

/** `file:line`, or undefined if the stack shows no file. */
function thrownIn({ stack = '' }: Error): string | undefined {
  for (const line of stack.split('\n')) {
    const [, file, row] = /^\s+at .*?((?:file:\/\/|\/|[A-Z]:\\)[^()]*?):(\d+):\d+\)?$/.exec(line) ?? [];
    if (file !== undefined) return `${file.startsWith('file:') ? fileURLToPath(file) : file}:${row}`;
  }
  return undefined;
}
