// By default a browser navigates to a link or file that is dropped on a page, and the page is gone. Here a drop does
// nothing, except in a field, where text is inserted as if it had been typed, and at the message field, where files are
// attached. Dragged rows of the list are handled by the page itself.
(() => {
  let isRow = false;
  addEventListener("dragstart", (event) => (isRow = !!event.target.closest?.("[data-row]")));
  addEventListener("dragend", () => (isRow = false));
  const refuse = (event) => {
    const kinds = event.dataTransfer?.types ?? [];
    const isText = kinds.includes("text/plain") && !kinds.includes("Files") && event.target.closest?.(":read-write");
    if (isRow || isText) return;
    if (kinds.includes("Files") && event.target.closest?.(".composer-box")) return event.preventDefault();
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = "none";
  };
  addEventListener("dragover", refuse);
  addEventListener("drop", refuse);
})();
