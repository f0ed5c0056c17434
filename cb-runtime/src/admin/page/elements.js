// Elements are made and changed here. Text is only ever set as text.

/** An element with a class, and children or text. */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Text in which what stands between backticks is shown as code. */
export function prose(text) {
  return text.split("`").map((part, place) => (place % 2 === 1 ? element("code", "", part) : part));
}

/** Sets the text if it is another one: screen readers and selections are not disturbed for nothing. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** So many children of one tag; those that are there are kept. */
export function setChildren(parent, tag, number) {
  while (parent.children.length > number) parent.lastElementChild.remove();
  while (parent.children.length < number) parent.append(document.createElement(tag));
  return parent.children;
}
