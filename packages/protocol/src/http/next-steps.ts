/** The next step for every code with which a service, a device or an authority refuses, in words for people. */
import type { REFUSALS } from '../wire/refusals.ts';
import { type ProblemCode, problemOf, type SERVICE_PROBLEMS } from './problems.ts';

type Rows = typeof REFUSALS & typeof SERVICE_PROBLEMS;
/** The codes that a device cannot resolve: a person has to act. */
type ForPeople = {
  readonly [Code in ProblemCode]: Rows[Code] extends { readonly retry: true } | { readonly resend: true }
    ? never
    : Code;
}[ProblemCode];

const ODD =
  'This cannot happen if device, server and authorities are honest and have the same version. Ask their operators to compare versions and check the logs.';
const COPIED = 'The folder of a device was copied or restored from a backup. Enrol a new device in a new folder.';
const BETWEEN_SERVICES =
  'The server and the authority resolve this by themselves. If the message repeats, check the logs of both.';
const NEW_REQUEST = 'Compare the request with the description of the service at /v1/openapi.json.';

const STEPS: Readonly<Record<ForPeople, string>> & Readonly<Partial<Record<ProblemCode, string>>> = {
  'certificate-invalid': 'Check that the task, the address of the authority and its key belong together.',
  'not-enrolled':
    'Enrol it with a token whose hash each owner registered (`basa keys enroll`); `basa device list` shows the enrolled devices.',
  revoked: 'An operator did this. To take part again, the device needs a new folder (--identity) and a new token.',
  'signature-invalid': ODD,
  'export-invalid': 'Give the files of the task before this one, and the policy that its authorities had.',
  'server-unknown': 'Check that the server uses the key that is named in the policy of the task.',
  'tag-not-yours': ODD,
  'ticket-invalid': ODD,
  'task-unknown': '`basa task ls` lists the tasks of the server.',
  'buffer-unknown': 'Check the task and the address of the server; `basa task show` lists the batches of each version.',
  'upload-used': 'Nothing is lost: the earlier upload counts. The device trains again on the next version.',
  'second-slot': COPIED,
  'upload-differs': COPIED,
  'too-few': 'The server waits for more updates.',
  'already-decided': BETWEEN_SERVICES,
  'duplicate-user': BETWEEN_SERVICES,
  'lease-taken': ODD,
  'epoch-invalid': ODD,
  'part-invalid': ODD,
  'batch-invalid': BETWEEN_SERVICES,
  'body-mismatch': ODD,
  'policy-invalid': 'Create the task with other settings; the text in brackets names the problem.',
  'given-lately': 'The device waits, and contributes again.',
  'budget-spent': 'The budget is part of the task and cannot be raised. The device can take part in another task.',
  'wrong-length': 'Train the model of the task: the update must have the same number of parameters.',
  'key-invalid': ODD,
  'model-invalid': 'Do not train on this model. Check the address of the server, and inform its operator.',
  'wrong-step': 'Start the client again; it continues from its records.',
  malformed: NEW_REQUEST,
  interrupted: 'Send the complete request again.',
  unsigned: 'Use the SDK or `basa client`, which sign each request with the key of the device.',
  'request-signature-invalid':
    'Check that the device uses the folder of its enrolment (--identity), and that no proxy changes its requests.',
  'clock-skew': 'Correct the clock of this machine, then try again.',
  'operator-token-missing':
    'Give the token of this service: --token or BASA_OPERATOR_TOKEN for the server, --authority-token or BASA_AUTHORITY_TOKEN for an authority.',
  'role-missing': 'Use a token with that role; `operators` in the configuration of the service lists the roles.',
  'readers-only':
    "Use a device of the task, or give the operator's token of the server: --token or BASA_OPERATOR_TOKEN. A task made with `basa task create --public-models` is open to everybody.",
  'enrolment-token-invalid':
    'A token enrols one device, once, after the owner of the authority registered its hash (`basa keys enroll`): ask for a new one. An enrolled device needs no token: use its folder with --identity.',
  'not-yours': 'Sign the request with the key of the device that is named in the message.',
  'origin-refused': 'Add the origin to `corsOrigins` in the configuration of the service, or to --cors of `basa dev`.',
  'host-refused': 'Use a host name in `hosts` of its configuration, or add this name there.',
  'not-found': 'Check the address, and that you did not exchange the server and the authority.',
  'method-not-allowed': 'The header `allow` of the response lists the supported methods.',
  'offset-mismatch': 'The device continues the upload at the right place by itself.',
  'task-exists': 'Use exactly the earlier settings, or give the new task another name.',
  'task-finished':
    'The model is ready; the device has nothing more to do. `basa task ls` lists the tasks that are still running.',
  'task-not-over': '`basa task finish` ends it; `basa task show` shows its open batches.',
  'body-too-large': 'Check that the client trains the model of this task: the policy limits the size of an update.',
  'range-not-satisfiable': 'Send the request without a range, or with a range within the size of the model.',
  internal: 'If the message repeats, check the log of the service.',
};

/** A sentence with the next step for a person, or with the automatic next step of the device. */
export function nextStepOf(code: ProblemCode): string {
  const { freshUpdate } = problemOf(code);
  if (STEPS[code] !== undefined) return STEPS[code];
  if (freshUpdate === true) return 'Train again on the newest version; a device that trains does this by itself.';
  return 'The device tries again by itself after a while.';
}

/** The complete text of a refusal for a person: the event, the detail in brackets, the next step. */
export function refusalText(code: ProblemCode, detail?: string): string {
  return `${withDetail(problemOf(code).sentence, detail)} ${nextStepOf(code)}`;
}

/** The detail in brackets, before the full stop of the sentence. */
export function withDetail(sentence: string, detail: string | undefined): string {
  if (detail === undefined) return sentence;
  return sentence.endsWith('.') ? `${sentence.slice(0, -1)} (${detail}).` : `${sentence} (${detail})`;
}
