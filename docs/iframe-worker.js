// Lets the search work where the site is opened as files. A browser starts no worker from a file, so the search runs in a
// hidden frame instead, which has what the search needs of a worker.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.hidden = true;
      this.scope = frame.contentWindow;
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.scope.importScripts = async (...scripts) => {
        for (const script of scripts) await this.load(script);
      };
      this.loaded = this.load(address);
    }

    load(address) {
      const script = this.scope.document.createElement("script");
      script.src = new URL(address, location.href).href;
      return new Promise((resolve, reject) => {
        script.onload = resolve;
        script.onerror = reject;
        this.scope.document.head.append(script);
      });
    }

    async postMessage(data) {
      await this.loaded;
      this.scope.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
