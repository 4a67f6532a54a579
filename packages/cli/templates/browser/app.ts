/** The page: starts the worker for the task in public/task.json, and shows its messages. */
// Only these two are read from the link. If it also named the services or the task, any link could lead your users into another task.
const link = new URLSearchParams(location.hash.slice(1));
const token = link.get('token');
// Three tabs are three devices here. Give your own app one device, for example '0', so that no link can make a person take part twice.
const device = link.get('device') ?? '';
// The token admits one device; it must not stay in the address for the next user of this browser.
history.replaceState(null, '', `#device=${device}`);
const say = (text: string): void => {
  const line = document.createElement('p');
  line.textContent = text;
  document.querySelector('main')?.append(line);
};

const task = await fetch(new URL('./task.json', import.meta.url));
if (!task.ok) say('task.json does not exist yet. Run `npm run create` first: it creates the task and writes the file.');
else if (!['0', '1', '2'].includes(device)) say('Open one of the links that `npm run links` prints.');
else {
  const worker = new Worker(new URL('./device.js', import.meta.url), { type: 'module' });
  worker.addEventListener('message', ({ data }: MessageEvent<string>) => say(data));
  worker.postMessage({ ...(await task.json()), device, ...(token !== null && { token }) });
}
