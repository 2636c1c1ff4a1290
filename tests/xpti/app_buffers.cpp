// app_buffers.cpp - SYCL host-only test program for trace comparison: buffers,
// sub-buffer, host task, host accessor, USM, barrier, image, exception.
// No device kernel of its own, so a plain host compiler suffices with the SYCL
// headers and libsycl: g++ -std=c++17 -O1 app_buffers.cpp -I<sycl include> -l:libsycl.so.9
// Run by compare.py with sub_all.cpp as subscriber.
// Prints "7", "7 9", one "exc:" line, "end".
#include <sycl/sycl.hpp>
#include <cstdio>
int main(){
  sycl::queue q{sycl::default_selector_v};
  puts(q.get_device().get_info<sycl::info::device::name>().c_str());
  int h[256]={0};
  {
    sycl::buffer<int,1> b(h, sycl::range<1>(256));
    sycl::buffer<int,1> c(sycl::range<1>(256));
    q.submit([&](sycl::handler&cg){ auto a=b.get_access<sycl::access_mode::write>(cg); cg.fill(a,7); });
    q.submit([&](sycl::handler&cg){ auto a=b.get_access<sycl::access_mode::read>(cg); auto d=c.get_access<sycl::access_mode::write>(cg); cg.copy(a,d); });
    q.submit([&](sycl::handler&cg){ auto a=c.get_access<sycl::access_mode::read_write,sycl::target::host_task>(cg); cg.host_task([=]{ (void)a; }); });
    { auto ha=c.get_host_access(); printf("%d\n",ha[3]); 
    }
    sycl::buffer<int,1> sub(c, sycl::id<1>(64), sycl::range<1>(64));
    q.submit([&](sycl::handler&cg){ auto a=sub.get_access<sycl::access_mode::write>(cg); cg.fill(a,9); });
    q.submit([&](sycl::handler&cg){ auto a=c.get_access<sycl::access_mode::read>(cg); cg.copy(a,h); });
    q.wait();
    q.submit([&](sycl::handler&cg){ auto a=c.get_access<sycl::access_mode::read>(cg); cg.update_host(a); });
    q.wait_and_throw();
  }
  printf("%d %d\n",h[3],h[70]);
  int*p=sycl::malloc_device<int>(100,q); int*s=sycl::malloc_shared<int>(100,q);
  auto e=q.memset(p,0,400); auto e2=q.memcpy(s,p,400,e); e2.wait();
  q.memset(s,5,400).wait();
  q.ext_oneapi_submit_barrier().wait();
  sycl::free(p,q); sycl::free(s,q);
  try {
    sycl::unsampled_image<2> im(sycl::image_format::r8g8b8a8_unorm, sycl::range<2>(8,8));
    { sycl::host_unsampled_image_accessor<sycl::float4,2> ha(im); }
  } catch(sycl::exception&x){ printf("img: %s\n",x.what()); }
  try { sycl::queue bad(sycl::device{[](const sycl::device&){return -1;}}); } catch(sycl::exception&x){ printf("exc: %s\n",x.what()); }
  sycl::queue qi{q.get_device(), sycl::property::queue::in_order()};
  int *t=sycl::malloc_host<int>(4,qi); qi.memset(t,1,16); qi.wait(); sycl::free(t,qi);
  puts("end");
}
