/** The next step for every code with which a service, a device or an authority refuses, in words for people. */
import type { REFUSALS } from '../wire/refusals.ts';
import { type ProblemCode, problemOf, type SERVICE_PROBLEMS } from './problems.ts';

type Rows = typeof REFUSALS & typeof SERVICE_PROBLEMS;
/** The codes that a device cannot resolve by itself: a person has to act. */
type ForPeople = {
  readonly [Code in ProblemCode]: Rows[Code] extends { readonly retry: true } | { readonly resend: true }
    ? never
    : Code;
}[ProblemCode];

const ODD =
  'This does not happen while device, server and authorities are honest and of one version: compare their versions, then ask their operators to look at the logs.';
const COPIED =
  'This happens after the folder of a device was copied or restored from a backup: use each folder on one machine only, and enrol a new device in a new folder.';
const BETWEEN_SERVICES =
  'Server and authority settle this by themselves. If it is said again and again, look at the logs of both.';
const NEW_REQUEST = 'Compare the request with /v1/openapi.json of the service.';

const STEPS: Readonly<Record<ForPeople, string>> & Readonly<Partial<Record<ProblemCode, string>>> = {
  'certificate-invalid': 'Check that the address of the authority, its key and the task belong together.',
  'certificate-expired': 'Enrol the device again with a new token; `basa keys enroll` makes one.',
  'not-enrolled':
    '`basa device list` shows the devices that are enrolled; `basa keys enroll` makes a token for a new one.',
  revoked: 'The operator ended its enrolment. To take part again it needs a new folder (--identity) and a new token.',
  'signature-invalid': ODD,
  'server-unknown': 'Check that the server has the key that the policy of the task names.',
  'tag-not-yours': ODD,
  'ticket-invalid': ODD,
  'receipt-invalid': ODD,
  'task-unknown': '`basa task ls` lists the tasks there are.',
  'buffer-unknown':
    'Check the task and the address of the server; `basa task show` lists the buffers that made a version.',
  'slot-unknown': '`basa inspect buffer` lists the slots of a buffer.',
  'upload-used': 'Nothing is lost, because the earlier upload counts. The device trains again on the next version.',
  'second-slot': COPIED,
  'slot-registered': COPIED,
  'view-mismatch': ODD,
  'server-equivocated':
    'Do not trust this server: keep both tickets as evidence, and tell the operators of the authorities.',
  'upload-differs': COPIED,
  'not-pending': BETWEEN_SERVICES,
  'too-few': 'The server waits for more updates, and gives the buffer up when its time is over.',
  'not-frozen': BETWEEN_SERVICES,
  'already-decided': BETWEEN_SERVICES,
  'other-vote': BETWEEN_SERVICES,
  'close-mismatch': BETWEEN_SERVICES,
  'duplicate-user': BETWEEN_SERVICES,
  'void-edge': BETWEEN_SERVICES,
  'wrong-version': BETWEEN_SERVICES,
  'other-model': 'Restore the newest backup of the server: it holds another model than the log of the authority names.',
  'buffer-used': BETWEEN_SERVICES,
  'buffer-not-closed': BETWEEN_SERVICES,
  'lease-taken': ODD,
  'epoch-invalid': ODD,
  'part-invalid': ODD,
  'batch-invalid': BETWEEN_SERVICES,
  'root-mismatch': ODD,
  'body-mismatch': ODD,
  'plan-invalid': BETWEEN_SERVICES,
  'policy-invalid': 'Create the task with other settings; the words in brackets say what is wrong with these.',
  'descriptor-invalid': ODD,
  'descriptor-policy': ODD,
  'slot-keys-invalid': ODD,
  'not-finite': 'Look for missing or huge values in the data, or lower the learning rate, then train again.',
  'metric-missing':
    'Bring a number for every metric that the task names: `basa client --update` takes --metric name=value, contribute() takes `metrics`.',
  'budget-spent': 'The budget is part of the task and cannot be raised; the device may take part in another task.',
  'wrong-length': 'Make the update with the network of the task: both must have the same number of parameters.',
  'ticket-not-mine': ODD,
  'inbox-incomplete': ODD,
  'inbox-proof': ODD,
  'key-invalid': ODD,
  'model-not-logged': 'Do not train on it: check the address of the server, and tell its operator.',
  'wrong-step': 'Start the client again: it goes on from what it has recorded.',
  'outcome-invalid': ODD,
  'outcome-undecided': 'Ask again when the buffer has ended.',
  malformed: NEW_REQUEST,
  interrupted: 'Send the request again, whole.',
  unsigned: 'Use the SDK or `basa client`: they sign each request with the key of the device.',
  'request-signature-invalid':
    'Check that the device has the key it was enrolled with (--identity), and that no proxy changes its requests.',
  'clock-skew': 'Set the clock of this machine, then try again.',
  'operator-token-missing': 'Give --token, or the variable BASA_OPERATOR_TOKEN.',
  'role-missing': 'Use a token with that role: `operators` in the configuration of the service lists them.',
  'enrolment-token-invalid':
    'A token enrols one device, once: ask for a new one (`basa keys enroll` makes them). A device that is enrolled needs none: give --identity its folder.',
  'not-yours': 'Sign the request with the key of the device that the message names.',
  'origin-refused': 'Add the origin to `corsOrigins` in the configuration of the service; `basa dev` takes --cors.',
  'host-refused': 'Ask by a name that is in `hosts` of its configuration, or add this one there.',
  'not-found': 'Check the address, and whether it is that of the server or of the authority.',
  'method-not-allowed': 'The header `allow` of the answer names the methods that it takes.',
  'offset-mismatch': 'The device goes on from where the upload stands by itself.',
  'task-exists': 'Repeat the settings of before, or give the new task another name.',
  'task-finished': 'The model is ready and this device is done; `basa task ls` lists the tasks that go on.',
  'task-not-over': '`basa task finish` ends it; `basa task show` shows its open buffers.',
  'seat-missing': NEW_REQUEST,
  'body-too-large': 'Check that client and task belong together: the policy says how large an update is.',
  'range-not-satisfiable': 'Ask without a range, or for one within the size of the model.',
  banned: 'Only an operator can take this back: `basa task suspects --clear`.',
  internal: 'If it is said again and again, look at the log of the service.',
};

/** A sentence: what a person does about it, or what the device does by itself. */
export function nextStepOf(code: ProblemCode): string {
  const { freshUpdate, anotherSeat } = problemOf(code);
  if (STEPS[code] !== undefined) return STEPS[code];
  if (anotherSeat === true) return 'A device takes a seat in another buffer by itself.';
  if (freshUpdate === true)
    return 'It must be made anew on the newest version, which a device that trains does by itself.';
  return 'A device tries again by itself after a while.';
}

/** The complete text of a refusal for a person: the event, the detail in brackets, the next step. */
export function refusalText(code: ProblemCode, detail?: string): string {
  const { sentence } = problemOf(code);
  return `${sentence}${detail === undefined ? '' : ` (${detail})`} ${nextStepOf(code)}`;
}
