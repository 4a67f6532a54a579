/** A project whose devices are tabs of a browser: a page, a worker, and a server for both. */
import {
  clipLines,
  compilerFile,
  createTaskFile,
  IGNORED,
  packageFile,
  readmeFile,
  type Template,
  TO_FILE,
} from './template.ts';
import { tools } from './tools.ts';

const ORIGIN = 'http://127.0.0.1:8080';

const MODEL = `/** The network, its training and its data. \`basa simulate\`, create-task.ts and the worker all read this file. */
import type { Dataset, Samples, Share } from '@basa/learning';
import { allSamples, defineModel, dense, randomStream, relu } from '@basa/learning';

const CLASSES = 3;

/** Four numbers in, one of three classes out. Images are { height: 28, width: 28, channels: 1 }, with conv2d and maxPool. */
export const model = defineModel('my-network', { height: 1, width: 1, channels: 4 }, [dense(16), relu, dense(CLASSES)]);

/** Training settings. They become part of the policy of the task, so no server can change them. */
export const training = { epochs: 2, batchSize: 8, learningRate: 0.1 };

${clipLines(0.93)}
/** The examples of one device. Replace these generated examples with data from the page, from a file that the user chose, or from a sensor. */
export const data = ({ device }: Share): Samples => allSamples(draw(1 + device, 90));

/** The examples on which every version of the model is evaluated. They go to the server, so use no private data. */
export const test = (): Dataset => draw(0, 300);

function draw(seed: number, count: number): Dataset {
  const random = randomStream(seed, 'measurements');
  const labels = Uint8Array.from({ length: count }, (_, n) => n % CLASSES);
  const inputs = Float32Array.from({ length: 4 * count }, (_, n) => {
    const isCorner = n % 4 === Math.floor(n / 4) % CLASSES;
    return (isCorner ? 1 : 0) + 0.4 * random.normal();
  });
  return { name: 'measurements', shape: model.input, classes: CLASSES, inputs, labels };
}
`;

const DEVICE = `/** The device, in a worker: masking and training take a while on a phone and must not block the page. */
import { BasaClient, gatheringText } from '@basa/client/web';
import { createKernelBackend, createReferenceBackend, createTrainer } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/web';
import { data, model } from './model.ts';

interface Join {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
  readonly token?: string;
  /** The number of this tab among three devices. */
  readonly device: string;
}

addEventListener('message', async ({ data: { device, ...pins } }: MessageEvent<Join>) => {
  const kernel = createTrainingKernel({ equalBits: false }); // wasm SIMD; undefined if there is none
  const trainer = createTrainer(kernel === undefined ? createReferenceBackend(model) : createKernelBackend(model, kernel));
  try {
    const client = await BasaClient.connect({ ...pins, identity: \`\${pins.task.slice(0, 16)}-\${device}\` }); // a name in IndexedDB
    client.on('trained', ({ version, loss }) => postMessage(\`trained on version \${version}, loss \${loss.toFixed(3)}\`));
    client.on('accepted', () => postMessage('accepted'));
    client.on('waiting', (gathering) => postMessage(gatheringText(gathering)));
    await client.run(trainer, await data({ device: Number(device), devices: 3 }), { rounds: 1 });
    await client.close();
    postMessage('done');
  } catch (error) {
    postMessage(\`\${error}\`);
  }
});
`;

const APP = `/** The page: starts the worker for the task in public/task.json, and shows its messages. */
// Only these two are read from the link. If it also named the services or the task, any link could lead your users into another task.
const link = new URLSearchParams(location.hash.slice(1));
const token = link.get('token');
// Three tabs are three devices here. Give your own app one device, for example '0', so that no link can make a person take part twice.
const device = link.get('device') ?? '';
// The token admits one device; it must not stay in the address for the next user of this browser.
history.replaceState(null, '', \`#device=\${device}\`);
const say = (text: string): void => {
  const line = document.createElement('p');
  line.textContent = text;
  document.querySelector('main')?.append(line);
};

const task = await fetch(new URL('./task.json', import.meta.url));
if (!task.ok) say('task.json does not exist yet. Run \`npm run create\` first: it creates the task and writes the file.');
else if (!['0', '1', '2'].includes(device)) say('Open one of the links that \`npm run links\` prints.');
else {
  const worker = new Worker(new URL('./device.js', import.meta.url), { type: 'module' });
  worker.addEventListener('message', ({ data }: MessageEvent<string>) => say(data));
  worker.postMessage({ ...(await task.json()), device, ...(token !== null && { token }) });
}
`;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <meta http-equiv="Content-Security-Policy" content="default-src 'self'; img-src data:; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' https: http://127.0.0.1:*" />
    <link rel="icon" href="data:," />
    <title>A device in a tab</title>
    <script type="module" src="app.js"></script>
  </head>
  <body>
    <main><h1>A device in a tab</h1></main>
  </body>
</html>
`;

const LINKS = `await writeFile('public/task.json', \`\${JSON.stringify({ server, authority, authorityKey, task }, null, 2)}\\n\`);
console.log('wrote public/task.json: the addresses and keys that the page trusts');
`;

const LINK_PROGRAM = `/** Prints a link for each device, with its token. */
import { readFileSync } from 'node:fs';

const tokens = readFileSync('enrolment/tokens.txt', 'utf8').trim().split('\\n');
for (const [device, token] of tokens.entries()) console.log(\`${ORIGIN}/#device=\${device}&token=\${token}\`);
console.log('Open each link in a tab: three tabs are three devices.');
`;

const STEPS = `In one terminal, start a server and an authority on this machine that accept requests from pages of ${ORIGIN}:

\`\`\`sh
npm run basa -- dev --devices 0 --cors ${ORIGIN}
\`\`\`

In a second terminal, serve the page:

\`\`\`sh
npm run page
\`\`\`

In a third terminal, paste the \`export\` lines that the first one printed, then run:

\`\`\`sh
npm run create                # the operator: creates the task, and writes public/task.json
npm run tokens                # the application: makes a token for each of three devices
npm run enrol                 # the owner of the authority: lets their devices in
npm run links                 # prints a link for each device
\`\`\`

The file names the server, the authority with its key, and the task; publish it with your app. The links contain only a token
and the number of the tab, so no link can lead your users into another task.

Open each link in a tab: three tabs are three devices. Each tab shows \`accepted\`, then \`done\`.
`;

export const browserTemplate: Template = {
  about: 'devices in browser tabs: a page and a worker',
  files: (place) => {
    const conditions = place.run === 'tsx' ? '' : ' --conditions=@basa/source';
    const bundle = `esbuild app.ts device.ts --bundle --splitting --format=esm --target=es2022 --outdir=public${conditions}`;
    return {
      'package.json': packageFile(place, {
        scripts: {
          build: `${bundle} --minify`,
          page: `${bundle} --servedir=public --serve=${ORIGIN.slice(7)}`,
          links: `${place.run} links.ts`,
        },
        devDependencies: tools('esbuild'),
      }),
      'tsconfig.json': compilerFile(place),
      '.gitignore': IGNORED,
      'README.md': readmeFile(place, STEPS),
      'model.ts': MODEL,
      'create-task.ts': createTaskFile({ isEvaluated: true, imports: TO_FILE.imports, end: LINKS }),
      'links.ts': LINK_PROGRAM,
      'device.ts': DEVICE,
      'app.ts': APP,
      'public/index.html': PAGE,
    };
  },
};
