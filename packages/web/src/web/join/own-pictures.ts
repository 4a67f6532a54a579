/** A user's own pictures in the form that the task's network takes: grey, light on dark, of a fixed width and height. */

export interface OwnPictures {
  readonly inputs: Uint8Array;
  readonly labels: Uint8Array;
}

export const NO_PICTURES: OwnPictures = { inputs: new Uint8Array(), labels: new Uint8Array() };

/** They never leave the tab: they are drawn onto a small canvas here, and only their pixels go to the worker. */
export async function addPictures(
  known: OwnPictures,
  files: Iterable<File>,
  { label, width, height }: { readonly label: number; readonly width: number; readonly height: number },
): Promise<OwnPictures> {
  const added: Uint8Array[] = [];
  for (const file of files) added.push(await pixelsOf(file, width, height));
  const inputs = new Uint8Array(known.inputs.length + added.length * width * height);
  inputs.set(known.inputs);
  for (const [n, pixels] of added.entries()) inputs.set(pixels, known.inputs.length + n * width * height);
  const labels = new Uint8Array(known.labels.length + added.length);
  labels.set(known.labels);
  labels.fill(label, known.labels.length);
  return { inputs, labels };
}

async function pixelsOf(file: File, width: number, height: number): Promise<Uint8Array> {
  const picture = await createImageBitmap(file);
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('this browser cannot draw');
  context.drawImage(picture, 0, 0, width, height);
  picture.close();
  const { data } = context.getImageData(0, 0, width, height);
  const grey = Uint8Array.from({ length: width * height }, (_, n) => greyOf(data, 4 * n));
  const mean = grey.reduce((sum, value) => sum + value, 0) / grey.length;
  // Ink is light in the data of the task; a scan of paper is mostly light and gets inverted.
  return mean > 127 ? grey.map((value) => 255 - value) : grey;
}

function greyOf(data: Uint8ClampedArray, at: number): number {
  const [r = 0, g = 0, b = 0, a = 0] = data.subarray(at, at + 4);
  return Math.round(((0.299 * r + 0.587 * g + 0.114 * b) * a + 255 * (255 - a)) / 255);
}
