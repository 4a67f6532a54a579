/** What a person does about a no of a service: by the code of the problem, where the service cannot know how it was asked. */

const ADVICE: Readonly<Record<string, string>> = {
  'enrolment-token-invalid':
    'A token enrols one device, once: ask for a new one (`basa keys enroll` makes them). A device that is enrolled needs none: give --identity its folder',
  'not-enrolled': '`basa device list` shows who is',
  'operator-token-missing': 'Give --token, or the variable BASA_OPERATOR_TOKEN',
  'role-missing': 'Use a token with that role: `operators` in the configuration of the service lists them',
  'task-unknown': '`basa task ls` lists those there are',
  'task-not-over': '`basa task finish` ends it; `basa task show` shows its open buffers',
  revoked: 'The operator ended its enrolment; to take part again it needs a new folder (--identity) and a new token',
  'host-refused': 'Ask by a name that is in `hosts` of its configuration, or add this one there',
};

/** In place of the advice that the SDK gives programmers. */
export const INSTEAD: Readonly<Record<string, string>> = {
  unreachable: 'check the address and the network, then run the same command again: it goes on where it stopped',
  'certificate-not-trusted': 'check the address, or name the PEM file of its CA in the variable NODE_EXTRA_CA_CERTS',
  'wrong-authority': 'check its address and --authority-key (BASA_AUTHORITY_KEY)',
  'store-of-another-task': 'give --identity another folder',
};

/** ` <advice>.` to be added to a sentence, or nothing. */
export function adviceFor(code: string | undefined): string {
  const advice = code === undefined ? undefined : ADVICE[code];
  return advice === undefined ? '' : ` ${advice}.`;
}
